/// Reads network-order integers from bytes that it does not own, from front to back, never past the end.
///
/// Every method returns nil when fewer bytes are left than it needs, so a parser can say which field was cut off.
public struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte.
    @inlinable
    public var offset: Int { position }
    @usableFromInline var position = 0

    /// Starts at the first byte. The memory must outlive the reader.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// How many bytes are left.
    @inlinable
    public var remaining: Int { bytes.count - position }

    /// One byte.
    @inlinable
    public mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// A big-endian integer of `type`'s width.
    @inlinable
    public mutating func read<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        let size = MemoryLayout<Value>.size
        guard remaining >= size else { return nil }
        defer { position += size }
        return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
    }

    /// The next `count` bytes, without copying them.
    @inlinable
    public mutating func readBytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, remaining >= count else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    /// Skips `count` bytes.
    @inlinable
    public mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        position += count
        return true
    }
}
