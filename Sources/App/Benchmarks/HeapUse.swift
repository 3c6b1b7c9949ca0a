import CAllocationCounter

/// What a piece of code does with the heap.
enum HeapUse {
    /// How many bytes of the process's heap are in use.
    static var bytesInUse: Int { Int(allocation_counter_heap_in_use()) }

    /// Whether allocations of Swift's runtime are counted; false in a build with a sanitizer.
    static let isCounting: Bool = {
        guard allocation_counter_works() else { return false }
        allocation_counter_start()
        let probe = [UInt8](repeating: 0, count: 100)
        withExtendedLifetime(probe) {}
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: probe.count, alignment: 16)
        bytes.deallocate()
        return allocation_counter_stop() > 0
    }()

    /// How many allocations the calling thread makes in `body`; nil in a build that cannot count them.
    static func allocations(in body: () -> Void) -> UInt64? {
        guard isCounting else {
            body()
            return nil
        }
        allocation_counter_start()
        body()
        return allocation_counter_stop()
    }
}
