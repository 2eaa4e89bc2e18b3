import java.io.DataInputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;

/**
 * A node of a service whose requests ask objects for two of their interfaces in turn, as in JDK-8180450: HotSpot keeps
 * the last answer in the class ({@code Klass::_secondary_super_cache}), so each thread overwrites what the other needs,
 * beside the list of all interfaces ({@code _secondary_supers}). Where a class lies in memory depends on what was
 * loaded before: the two words are on one cache line in seven of eight places.
 *
 * Usage: java Node.java SEED PORT. It prints where the class lies, modulo a cache line, and serves a line per request.
 */
public class Node {
    interface I0 {}
    interface I1 {}
    interface I2 {}
    interface I3 {}
    interface I4 {}
    interface I5 {}
    interface Absent0 {}
    interface Absent1 {}
    interface Absent2 {}
    interface Absent3 {}

    static class Value implements I0, I1, I2, I3, I4, I5 {}

    // More classes that are asked, so that the compiler does not know the answer.
    static class Second implements I0, I1, I2, I3, I4, I5 {}
    static class Third implements I0, I1, I2, I3, I4, I5 {}
    static class Fourth implements Absent0, Absent1, Absent2, Absent3 {}

    static volatile int sink;
    static final int CHECKS = 20_000;
    static final int OBJECTS = 64;

    static int check(Object[] objects, int times) {
        int hits = 0;
        for (int i = 0; i < times; i++) {
            Object o = objects[i % OBJECTS];
            hits += o instanceof I4 ? 1 : 0;
            hits += o instanceof I5 ? 1 : 0;
            hits += o instanceof Absent0 ? 1 : 0;
            hits += o instanceof Absent1 ? 1 : 0;
            hits += o instanceof Absent2 ? 1 : 0;
            hits += o instanceof Absent3 ? 1 : 0;
        }
        return hits;
    }

    static Object[] many(Object o) {
        Object[] objects = new Object[OBJECTS];
        java.util.Arrays.fill(objects, o);
        return objects;
    }

    // Classes of various sizes: each method that can be overridden has a word in the table of its class.
    static class F0 {}
    static class F1 { void a() {} }
    static class F2 { void a() {} void b() {} }
    static class F3 { void a() {} void b() {} void c() {} }
    static class F4 { void a() {} void b() {} void c() {} void d() {} }
    static class F5 { void a() {} void b() {} void c() {} void d() {} void e() {} }
    static class F6 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} }
    static class F7 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} void g() {} }
    static class F8 {}
    static class F9 { void a() {} }
    static class F10 { void a() {} void b() {} }
    static class F11 { void a() {} void b() {} void c() {} }
    static class F12 { void a() {} void b() {} void c() {} void d() {} }
    static class F13 { void a() {} void b() {} void c() {} void d() {} void e() {} }
    static class F14 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} }
    static class F15 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} void g() {} }
    static class F16 {}
    static class F17 { void a() {} }
    static class F18 { void a() {} void b() {} }
    static class F19 { void a() {} void b() {} void c() {} }
    static class F20 { void a() {} void b() {} void c() {} void d() {} }
    static class F21 { void a() {} void b() {} void c() {} void d() {} void e() {} }
    static class F22 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} }
    static class F23 { void a() {} void b() {} void c() {} void d() {} void e() {} void f() {} void g() {} }

    /** Loads some of them first, as a service with other plug-ins, other requests or another order of threads does. */
    static void disturb(long seed) throws Exception {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        for (int i = 0; i < 24; i++) {
            if (random.nextInt(4) > 0) {
                Class.forName("Node$F" + i);
            }
        }
    }

    /** The class of an object by its header, with class pointers of four bytes, which are on by default. */
    static long where(Object o) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return ((sun.misc.Unsafe) field.get(null)).getInt(o, 8L) & 0xffffffffL;
    }

    public static void main(String[] arguments) throws Exception {
        disturb(Long.parseLong(arguments[0]));
        Object o = Class.forName("Node$Value").getDeclaredConstructor().newInstance();
        Object[] objects = many(o);
        Object[][] all = {many(new Second()), many(new Third()), many(new Fourth()), objects};
        for (int i = 0; i < 1000; i++) {
            sink = check(all[i % all.length], CHECKS / 10);
        }
        try (ServerSocket server = new ServerSocket(Integer.parseInt(arguments[1]), 50,
                java.net.InetAddress.getLoopbackAddress())) {
            System.out.println("class at " + where(o) % 64);
            System.out.flush();
            for (int turn = 0;; turn++) {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                Thread thread = new Thread(() -> serve(socket, objects), "serve-" + turn);
                thread.setDaemon(true);
                thread.start();
            }
        }
    }

    static void serve(Socket socket, Object[] objects) {
        try (socket) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            byte[] request = new byte[16];
            while (in.read(request) > 0) {
                sink = check(objects, CHECKS);
                out.write('k');
            }
        } catch (java.io.IOException e) {
            // the client is gone
        }
    }
}
