import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * Real stand-alone ZooKeeper servers, one after the other, for the differential test. All clients
 * are bare connections of the test itself, so that only the server's own order of frames is seen.
 * One command a line on stdin, one answer a line on stdout; a dump has several and ends with a dot.
 * The process ends with its stdin, however the test ends.
 */
public final class Oracle {
    private static final long PATIENCE_MS = 20_000;

    private final Path base;
    private int started;
    private Path folder;
    private ZooKeeperServer server;
    private NIOServerCnxnFactory connections;

    private Oracle(Path base) {
        this.base = base;
    }

    public static void main(String[] args) throws Exception {
        Oracle oracle = new Oracle(Path.of(args[0]));
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = oracle.obey(line.split(" "));
            } catch (Exception e) {
                answer = "error " + String.valueOf(e).replace('\n', ' ');
            }
            System.out.print(answer + "\n");
            System.out.flush();
        }
        oracle.stop();
        System.exit(0);
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                return start(number(words[1]), number(words[2]), number(words[3]));
            case "connections":
                int wanted = number(words[1]);
                return await(() -> connections.getNumAliveConnections() == wanted,
                    () -> connections.getNumAliveConnections() + " connections");
            case "gone":
                long session = Long.parseLong(words[1]);
                return await(() -> !sessions().contains(session), () -> "session still there");
            case "dump":
                return dump();
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private Set<Long> sessions() {
        return server.getZKDatabase().getSessionWithTimeOuts().keySet();
    }

    /** A fresh server, so that its transactions count from 0. The one before goes. */
    private String start(int tickMs, int minMs, int maxMs) throws Exception {
        stop();
        folder = Files.createDirectory(base.resolve("server-" + ++started));
        server = new ZooKeeperServer(folder.toFile(), folder.toFile(), tickMs);
        server.setMinSessionTimeout(minMs);
        server.setMaxSessionTimeout(maxMs);
        connections = new NIOServerCnxnFactory();
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        connections.configure(new InetSocketAddress(loopback, 0), 0);
        connections.startup(server);
        return "port " + connections.getLocalPort();
    }

    private void stop() throws IOException {
        if (connections != null) {
            connections.shutdown();
            connections = null;
            try (Stream<Path> files = Files.walk(folder)) {
                files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            }
        }
    }

    /** The server notices the end of a connection in its own time; the test waits for it. */
    private String await(BooleanSupplier reached, Supplier<String> state) throws Exception {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000;
        while (!reached.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return "error " + state.get();
            }
            Thread.sleep(0, 200_000);
        }
        return "ok";
    }

    /** Every node, past its access list, and every session. Texts are in hexadecimal. */
    private String dump() throws Exception {
        ZKDatabase database = server.getZKDatabase();
        List<String> lines = new ArrayList<>();
        walk(database, "/", lines);
        for (Long session : sessions()) {
            String held = database.getDataTree().getEphemerals(session).stream().sorted()
                .map(path -> text(path)).collect(Collectors.joining(","));
            lines.add("session " + session + " " + held);
        }
        lines.add(".");
        return String.join("\n", lines);
    }

    private static void walk(ZKDatabase database, String path, List<String> lines)
        throws Exception {
        Stat stat = new Stat();
        byte[] data = database.getData(path, stat, null);
        StringBuilder line = new StringBuilder("node ").append(text(path));
        long[] fields = {
            stat.getCzxid(), stat.getMzxid(), stat.getPzxid(),
            stat.getVersion(), stat.getCversion(), stat.getAversion(),
            stat.getEphemeralOwner(), stat.getDataLength(), stat.getNumChildren(),
        };
        for (long n : fields) {
            line.append(' ').append(n);
        }
        line.append(' ').append(data == null ? "null" : hex(data));
        for (ACL acl : database.getACL(path, new Stat())) {
            String scheme = text(acl.getId().getScheme());
            line.append(' ').append(acl.getPerms()).append(':').append(scheme);
            line.append(':').append(text(acl.getId().getId()));
        }
        lines.add(line.toString());
        List<String> names = new ArrayList<>(database.getChildren(path, null, null));
        Collections.sort(names);
        for (String name : names) {
            walk(database, path.equals("/") ? "/" + name : path + "/" + name, lines);
        }
    }

    private static String text(String value) {
        return hex(value.getBytes(StandardCharsets.UTF_8));
    }

    private static String hex(byte[] bytes) {
        return "=" + HexFormat.of().formatHex(bytes);
    }
}
