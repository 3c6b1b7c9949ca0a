import Testing
import Transport

@Suite("Reading and writing bytes")
struct ByteAccessTests {
    @Test("what is written is read back in network order")
    func roundTrips() {
        var memory = [UInt8](repeating: 0xEE, count: 20)
        memory.withUnsafeMutableBytes { buffer in
            var writer = ByteWriter(buffer)
            writer.write(UInt8(1))
            writer.write(UInt16(0x0203))
            writer.write(UInt32(0x0405_0607))
            writer.write([8, 9])
            writer.write(UInt64(0x0A0B_0C0D_0E0F_1011))
            #expect(writer.count == 17 && !writer.overflowed)
            writer.overwrite(UInt16(0xAABB), at: 15)
            #expect(!writer.overflowed)
        }
        #expect(memory == Array(1...15) + [0xAA, 0xBB, 0xEE, 0xEE, 0xEE])
        memory.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            #expect(reader.readUInt8() == 1)
            #expect(reader.read(UInt16.self) == 0x0203)
            #expect(reader.read() as UInt32? == 0x0405_0607)
            #expect(reader.readBytes(2).map(Array.init) == [8, 9])
            #expect(reader.offset == 9 && reader.remaining == 11)
            #expect(reader.skip(10) == true)
            #expect(reader.read(UInt16.self) == nil)
            #expect(reader.offset == 19)
            #expect(reader.readUInt8() == 0xEE)
            #expect(reader.readUInt8() == nil)
        }
    }

    @Test("nothing is read beyond the end, however much is requested")
    func readsWithinBounds() {
        [UInt8](repeating: 0, count: 3).withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            #expect(reader.read(UInt32.self) == nil)
            #expect(reader.readBytes(4) == nil)
            #expect(reader.readBytes(-1) == nil)
            #expect(reader.readBytes(.max) == nil)
            #expect(reader.skip(.max) == false)
            #expect(reader.skip(-1) == false)
            #expect(reader.readBytes(3)?.count == 3)
            #expect(reader.readBytes(0)?.count == 0)
        }
        var empty = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(empty.readUInt8() == nil)
        #expect(empty.readBytes(0)?.count == 0)
    }

    @Test("after the first field that does not fit nothing more is written")
    func stopsAtOverflow() {
        var memory = [UInt8](repeating: 0, count: 5)
        memory.withUnsafeMutableBytes { buffer in
            var writer = ByteWriter(buffer)
            writer.write(UInt16(0x0102))
            writer.write(UInt32(0xFFFF_FFFF))
            #expect(writer.overflowed && writer.count == 2)
            writer.write(UInt8(9))
            writer.write([9])
            #expect(writer.count == 2)
        }
        #expect(memory == [1, 2, 0, 0, 0])
    }

    @Test("overwriting is kept within what has been written")
    func overwritesWithinBounds() {
        for offset in [-1, 1, 2, 4, Int.max] {
            var memory = [UInt8](repeating: 0, count: 8)
            memory.withUnsafeMutableBytes { buffer in
                var writer = ByteWriter(buffer)
                writer.write(UInt16(0))
                writer.overwrite(UInt16(0xFFFF), at: offset)
                #expect(writer.overflowed)
            }
            #expect(memory == [UInt8](repeating: 0, count: 8))
        }
    }
}
