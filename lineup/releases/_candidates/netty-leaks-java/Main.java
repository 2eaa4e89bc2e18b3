import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/** Packs messages into buffers. */
public class Main {
    public static void main(String[] arguments) {
        long total = 0;
        for (int i = 0; i < 400_000; i++) {
            ByteBuf buffer = PooledByteBufAllocator.DEFAULT.buffer(256);
            for (int j = 0; j < 20; j++) buffer.writeInt(i + j);
            while (buffer.isReadable()) total += buffer.readInt();
            buffer.release();
        }
        System.out.println(total);
    }
}
