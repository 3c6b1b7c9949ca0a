/// The places of a ring's key frames, oldest first. Adding and removing allocates nothing in the steady state.
struct CursorQueue {
    private var cursors: [TrackRing.Cursor] = []
    private var head = 0

    var count: Int { cursors.count - head }
    var first: TrackRing.Cursor? { head < cursors.count ? cursors[head] : nil }
    var last: TrackRing.Cursor? { head < cursors.count ? cursors[cursors.count - 1] : nil }

    /// The cursor at `position`, counted from the oldest one.
    subscript(position: Int) -> TrackRing.Cursor { cursors[head + position] }

    mutating func append(_ cursor: TrackRing.Cursor) { cursors.append(cursor) }

    /// Removes the oldest cursor if it lies in the ring's entry `entry`, which goes.
    @inline(__always)
    mutating func removeFirst(ifIn entry: Int) {
        guard head < cursors.count, cursors[head].entry == entry else { return }
        head += 1
        if head == cursors.count {
            cursors.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 32, head * 2 >= cursors.count {
            cursors.removeFirst(head)
            head = 0
        }
    }

    /// How many of the oldest cursors are in increasing order of `value` and have one of at most `limit`.
    func count<Value: Comparable>(upTo limit: Value, by value: (TrackRing.Cursor) -> Value) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if value(self[middle]) <= limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
