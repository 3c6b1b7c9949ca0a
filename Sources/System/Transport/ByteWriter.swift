/// Writes network-order integers into memory that it does not own. From the first field that does not fit, nothing more
/// is written, and ``overflowed`` is set. So a builder checks once at its end instead of after each field.
public struct ByteWriter {
    @usableFromInline let bytes: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    @inlinable
    public var count: Int { position }
    /// Whether something did not fit.
    @inlinable
    public var overflowed: Bool { isOverflowed }
    @usableFromInline var position = 0
    @usableFromInline var isOverflowed = false

    /// Starts at the first byte. The memory must outlive the writer.
    @inlinable
    public init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    /// Writes `value` in big-endian order.
    @inlinable
    public mutating func write<Value: FixedWidthInteger>(_ value: Value) {
        let size = MemoryLayout<Value>.size
        guard !isOverflowed, bytes.count - position >= size else {
            isOverflowed = true
            return
        }
        bytes.storeBytes(of: value.bigEndian, toByteOffset: position, as: Value.self)
        position += size
    }

    /// Copies `source`.
    @inlinable
    public mutating func write(_ source: UnsafeRawBufferPointer) {
        guard !isOverflowed, bytes.count - position >= source.count else {
            isOverflowed = true
            return
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[position..<position + source.count]).copyMemory(from: source)
        position += source.count
    }

    /// Copies `source`.
    @inlinable
    public mutating func write(_ source: [UInt8]) {
        source.withUnsafeBytes { write($0) }
    }

    /// Overwrites a big-endian integer at `offset`, which must lie within the bytes that have been written.
    @inlinable
    public mutating func overwrite<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        guard offset >= 0, offset <= position - MemoryLayout<Value>.size else {
            isOverflowed = true
            return
        }
        bytes.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
    }
}
