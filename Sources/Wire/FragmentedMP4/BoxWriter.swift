/// Writes boxes (ISO/IEC 14496-12, section 4.2) into an array that grows.
struct BoxWriter {
    private(set) var bytes: [UInt8] = []

    /// How many bytes have been written.
    var count: Int { bytes.count }

    mutating func reserve(_ capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// A box with its size in front. The size is filled in after `content` is written.
    mutating func box(_ type: StaticString, _ content: (inout BoxWriter) -> Void) {
        let start = bytes.count
        write(UInt32(0))
        write(ascii: type)
        content(&self)
        overwrite(UInt32(truncatingIfNeeded: bytes.count - start), at: start)
    }

    /// A box with a version and 24 bits of flags (section 4.2, FullBox).
    mutating func fullBox(
        _ type: StaticString, version: UInt8 = 0, flags: UInt32 = 0, _ content: (inout BoxWriter) -> Void
    ) {
        box(type) {
            $0.write(UInt32(version) << 24 | flags & 0xFF_FFFF)
            content(&$0)
        }
    }

    mutating func write<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ data: some Sequence<UInt8>) {
        bytes.append(contentsOf: data)
    }

    mutating func write(ascii text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func zeros(_ count: Int) {
        bytes.append(contentsOf: repeatElement(0, count: count))
    }

    /// Overwrites the four bytes at `offset`.
    mutating func overwrite(_ value: UInt32, at offset: Int) {
        withUnsafeBytes(of: value.bigEndian) { source in
            for index in 0..<4 { bytes[offset + index] = source[index] }
        }
    }
}
