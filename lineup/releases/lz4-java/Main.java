import java.util.Random;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4FastDecompressor;

/** Unpacks blocks. */
public class Main {
    public static void main(String[] arguments) {
        byte[] block = new byte[1 << 18];
        Random random = new Random(7);
        for (int i = 0; i < block.length; i++) block[i] = (byte) (random.nextInt(9) == 0 ? random.nextInt(60) : i / 40);
        LZ4Factory factory = LZ4Factory.fastestInstance();
        LZ4Compressor compressor = factory.fastCompressor();
        byte[] packed = compressor.compress(block);
        LZ4FastDecompressor decompressor = factory.fastDecompressor();
        long sum = 0;
        for (int i = 0; i < 1200; i++) sum += decompressor.decompress(packed, block.length)[i];
        System.out.println(sum);
    }
}
