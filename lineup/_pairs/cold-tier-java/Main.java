import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Scores leads by rules that are built from small expressions, as a marketing tool's nightly run does. */
public class Main {
    interface Expression {
        Double value(Lead lead);
    }

    record Lead(int age, int visits, int spent) {}

    record Constant(double number) implements Expression {
        public Double value(Lead lead) {
            return number;
        }
    }

    record Sum(Expression left, Expression right) implements Expression {
        public Double value(Lead lead) {
            return left.value(lead) + right.value(lead);
        }
    }

    record Scaled(Expression inner, double factor) implements Expression {
        public Double value(Lead lead) {
            return inner.value(lead) * factor;
        }
    }

    static Expression rule(int number) {
        Expression age = lead -> (double) lead.age();
        Expression visits = lead -> (double) lead.visits();
        return new Sum(new Scaled(age, 0.1 * number), new Sum(new Scaled(visits, 0.5), new Constant(number)));
    }

    static double score(List<Expression> rules, Lead lead) {
        return rules.stream().mapToDouble(rule -> rule.value(lead)).filter(value -> value > 3).sum();
    }

    public static void main(String[] arguments) {
        List<Expression> rules = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            rules.add(rule(i));
        }
        double total = IntStream.range(0, Integer.parseInt(arguments[0]))
                .mapToObj(i -> new Lead(i % 80, i % 37, i % 1009))
                .mapToDouble(lead -> score(rules, lead))
                .sum();
        System.out.printf("%.3f%n", total);
    }
}
