// Which services there are, and the hosts of one.
import type { Service } from "../api/fleet";
import { visible } from "../lib/format";
import { utc } from "../state/hosts";
import { questions } from "../state/question";
import { plural, type AnswerProps } from "./fleetanswer";
import { nameColumn, numberColumn } from "./columns";
import { HostDots, HostTable } from "./hostdots";
import { Section } from "./parts";
import { SortTable, type Column } from "./sorttable";

const quick = ["hosts", "bands", "changes", "facts", "top"];

export function ServicesAnswer({ answer, onAsk }: AnswerProps) {
  const services = answer.services ?? [];
  const columns: Column<Service>[] = [
    nameColumn("Service", (one) => one.service),
    {
      title: "Ask", sort: (one) => one.service, cell: (one) => (
        <span class="quick">
          {questions.filter(([name]) => quick.includes(name)).map(([name, words]) => (
            <button key={name} type="button" class="link small" aria-label={`${words} of ${visible(one.service, 100)}`}
              onClick={() => onAsk({ question: name, service: one.service })}>{words}</button>
          ))}
        </span>),
    },
    numberColumn("Hosts", (one) => one.hosts),
    numberColumn("Windows", (one) => one.windows),
    nameColumn("First (UTC)", (one) => utc(one.first), { wide: true }),
    nameColumn("Last (UTC)", (one) => utc(one.last), { wide: true }),
  ];
  return (
    <Section id="services" title={services.length > 0 ? "Services" : "No services: the store is empty"}>
      {services.length > 0
        ? <SortTable label="Services" rows={services} columns={columns} start={0} limit={100}
            id={(one) => one.service} />
        : <p>Agents send windows: <code>culprit agent --hub URL --token-file FILE</code>.</p>}
    </Section>
  );
}

export function HostsAnswer({ answer }: AnswerProps) {
  const hosts = answer.each ?? [];
  const silent = hosts.filter((host) => host.windows === 0).length;
  return (
    <Section id="hosts" title={`${plural(hosts.length - silent, "host")} of ${visible(answer.service, 100)}`}
      note={silent > 0 ? `${plural(silent, "host")} more had windows in the week before and none in this time.` : ""}>
      <HostDots hosts={hosts} unit={answer.unit} groups={[["", "host"]]} caption="Each dot is a host" />
      <HostTable label={`Hosts of ${visible(answer.service, 60)}`} hosts={hosts} unit={answer.unit} />
    </Section>
  );
}
