import org.jsoup.Jsoup;

/** Parses pages. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder page = new StringBuilder("<html><body>");
        for (int i = 0; i < 1500; i++) {
            page.append("<div class='row' id='r").append(i).append("'><a href='/").append(i);
            page.append("'>link</a><p>text &amp; more</p></div>");
        }
        long size = 0;
        for (int i = 0; i < 90; i++) size += Jsoup.parse(page.toString()).body().childNodeSize();
        System.out.println(size);
    }
}
