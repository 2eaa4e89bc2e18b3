import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

/** Collects links of pages. */
public class Main {
    public static void main(String[] arguments) {
        StringBuilder page = new StringBuilder("<html><body>");
        for (int i = 0; i < 1500; i++) page.append("<div class='row'><a href='/").append(i).append("'>link</a><p>text</p></div>");
        long links = 0;
        for (int i = 0; i < 40; i++) {
            Document document = Jsoup.parse(page.toString());
            links += document.select("div.row > a[href]").size() + document.body().text().length();
        }
        System.out.println(links);
    }
}
