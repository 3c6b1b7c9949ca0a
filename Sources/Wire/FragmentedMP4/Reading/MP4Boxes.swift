import Transport

/// The boxes that follow each other in some bytes (ISO/IEC 14496-12, section 4.2).
package struct MP4Boxes {
    /// One box.
    package struct Box {
        /// The four characters of its type as a number.
        package var type: UInt32
        /// All of it, with its header.
        package var whole: UnsafeRawBufferPointer
        /// What follows the header.
        package var content: UnsafeRawBufferPointer
        /// Where it begins in the file.
        var offset: Int64

        /// Its type as text. Bytes that are not printable become dots.
        var name: String { MP4Boxes.name(type) }

        package func invalid(_ fault: MP4ReadError.BoxFault) -> MP4ReadError {
            .invalidBox(name, offset: offset, fault)
        }

        /// The boxes inside, behind `header` bytes of fields.
        package func children(after header: Int = 0) throws(MP4ReadError) -> MP4Boxes {
            guard header <= content.count else { throw invalid(.tooShort) }
            return MP4Boxes(
                UnsafeRawBufferPointer(rebasing: content[header...]),
                at: offset + Int64(whole.count - content.count + header))
        }

        /// The version and flags of a full box, and its fields.
        package func full() throws(MP4ReadError) -> (version: UInt8, flags: UInt32, fields: ByteReader) {
            var reader = ByteReader(content)
            guard let word: UInt32 = reader.read() else { throw invalid(.tooShort) }
            return (UInt8(word >> 24), word & 0xFF_FFFF, reader)
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private let base: Int64
    private var position = 0

    /// Starts at the first box. The memory must outlive the value.
    package init(_ bytes: UnsafeRawBufferPointer, at base: Int64 = 0) {
        self.bytes = bytes
        self.base = base
    }

    /// The next box, or nil at the end.
    package mutating func next() throws(MP4ReadError) -> Box? {
        guard position < bytes.count else { return nil }
        let start = position
        let offset = base + Int64(start)
        guard let head = MP4Boxes.head(UnsafeRawBufferPointer(rebasing: bytes[start...])) else {
            throw .cutOff(offset: offset)
        }
        let length = head.length == 0 ? Int64(bytes.count - start) : head.length
        guard length >= Int64(head.header), length <= Int64(bytes.count - start) else {
            throw .invalidBox(MP4Boxes.name(head.type), offset: offset, .doesNotFit)
        }
        position = start + Int(length)
        return Box(
            type: head.type, whole: UnsafeRawBufferPointer(rebasing: bytes[start..<position]),
            content: UnsafeRawBufferPointer(rebasing: bytes[start + head.header..<position]), offset: offset)
    }

    /// The first box of this type among those that are left; nil if there is none.
    package func first(_ type: StaticString) throws(MP4ReadError) -> Box? {
        var copy = self
        let wanted = MP4Boxes.code(type)
        while let box = try copy.next() { if box.type == wanted { return box } }
        return nil
    }

    /// The same, where the box has to be there.
    package func required(_ type: StaticString) throws(MP4ReadError) -> Box {
        guard let box = try first(type) else { throw .missingBox("\(type)") }
        return box
    }

    /// The type, the length (0: to the end) and the length of the header; nil if the header is cut off. A length that
    /// no file can have is -1.
    package static func head(_ bytes: UnsafeRawBufferPointer) -> (type: UInt32, length: Int64, header: Int)? {
        var reader = ByteReader(bytes)
        guard let short: UInt32 = reader.read(), let type: UInt32 = reader.read() else { return nil }
        guard short == 1 else { return (type, Int64(short), 8) }
        guard let long: UInt64 = reader.read() else { return nil }
        return (type, long > 1 << 60 || long == 0 ? -1 : Int64(long), 16)
    }

    /// The number of a type.
    package static func code(_ type: StaticString) -> UInt32 {
        type.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    package static func name(_ type: UInt32) -> String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: type >> $0) }
        return String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}
