/// Writes network-order integers into memory that it does not own. What does not fit is not written and is remembered
/// in ``overflowed``, so a builder checks once at its end instead of after each field.
public struct ByteWriter {
    let bytes: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    public private(set) var count = 0
    /// Whether something did not fit.
    public private(set) var overflowed = false

    /// Starts at the first byte. The memory must outlive the writer.
    public init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    /// Writes `value` in big-endian order.
    public mutating func write<Value: FixedWidthInteger>(_ value: Value) {
        let size = MemoryLayout<Value>.size
        guard bytes.count - count >= size else {
            overflowed = true
            return
        }
        bytes.storeBytes(of: value.bigEndian, toByteOffset: count, as: Value.self)
        count += size
    }

    /// Copies `source`.
    public mutating func write(_ source: UnsafeRawBufferPointer) {
        guard bytes.count - count >= source.count else {
            overflowed = true
            return
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[count..<count + source.count]).copyMemory(from: source)
        count += source.count
    }

    /// Copies `source`.
    public mutating func write(_ source: [UInt8]) {
        source.withUnsafeBytes { write($0) }
    }

    /// Overwrites a big-endian integer at `offset`, which must lie in what has been written.
    public mutating func overwrite<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        guard offset >= 0, offset + MemoryLayout<Value>.size <= count else {
            overflowed = true
            return
        }
        bytes.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
    }
}
