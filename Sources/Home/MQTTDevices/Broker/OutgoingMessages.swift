/// The messages that the library has not sent yet, or the broker has not acknowledged, by the library's numbers.
struct OutgoingMessages {
    /// How many bytes they have together.
    private(set) var byteCount = 0
    private var sizes: [Int32: Int] = [:]
    /// Messages that the library sent before their numbers were known here.
    private var sentEarly: Set<Int32> = []

    /// The library has taken a message.
    mutating func add(_ number: Int32, size: Int) {
        guard sentEarly.remove(number) == nil else { return }
        sizes[number] = size
        byteCount += size
    }

    /// The broker has a message.
    mutating func remove(_ number: Int32) {
        guard let size = sizes.removeValue(forKey: number) else {
            sentEarly.insert(number)
            return
        }
        byteCount -= size
    }
}
