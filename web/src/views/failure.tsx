// What is shown when the page's own data cannot be read.
export function Failure({ error }: { error: unknown }) {
  return (
    <main class="page">
      <section class="card" role="alert">
        <h1>This report cannot be shown</h1>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        <p>
          The file may have been cut short, or the browser is too old (it needs DecompressionStream: Chrome 80, Firefox
          113, Safari 16.4). The same case is in <code>case.json</code> beside this file.
        </p>
      </section>
    </main>
  );
}
