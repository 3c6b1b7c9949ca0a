import HomeTypes

/// What comes next in a stream.
enum StreamStep<Output> {
    case value(Output)
    /// Nothing until the source wakes the stream.
    case wait
    case finished
    case failed(HomeError)
}

/// How a stream's values follow from the successive states of the home.
///
/// A subscriber that is slower than the home gets the newest state, not every state in between. The size of the home
/// therefore bounds what waits for it.
protocol Derivation<Output>: Sendable {
    associatedtype Output: Sendable

    /// Looks at a newer state.
    mutating func update(_ home: HomeState)

    /// The next value to deliver.
    mutating func next() -> StreamStep<Output>
}

/// One value, which is delivered again whenever it has changed.
struct LatestValue<Output: Sendable & Equatable>: Derivation {
    /// What a state yields.
    enum Reading: Sendable {
        case value(Output)
        /// The object does not exist, or no longer exists: the stream ends.
        case gone
        case failure(HomeError)
    }

    private let read: @Sendable (HomeState) -> Reading
    private var delivered: Output?
    private var reading: Reading?

    init(_ read: @escaping @Sendable (HomeState) -> Reading) {
        self.read = read
    }

    mutating func update(_ home: HomeState) {
        reading = read(home)
    }

    mutating func next() -> StreamStep<Output> {
        switch reading {
        case nil: return .wait
        case .gone: return .finished
        case .failure(let error): return .failed(error)
        case .value(let value):
            reading = nil
            guard value != delivered else { return .wait }
            delivered = value
            return .value(value)
        }
    }
}

/// The objects of a collection one at a time: all of them at first, then each that was added or changed.
struct ChangedObjects<Object: Sendable & Hashable & Identifiable>: Derivation where Object.ID: Sendable {
    private let read: @Sendable (HomeState) -> [Object]
    private var delivered: [Object.ID: Object] = [:]
    private var pending: [Object] = []

    init(_ read: @escaping @Sendable (HomeState) -> [Object]) {
        self.read = read
    }

    mutating func update(_ home: HomeState) {
        let objects = read(home)
        let present = Set(objects.map(\.id))
        delivered = delivered.filter { present.contains($0.key) }
        // The last of them is delivered first.
        pending = objects.reversed().filter { delivered[$0.id] != $0 }
    }

    mutating func next() -> StreamStep<Object> {
        guard let object = pending.popLast() else { return .wait }
        delivered[object.id] = object
        return .value(object)
    }
}
