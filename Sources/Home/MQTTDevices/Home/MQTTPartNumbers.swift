/// The numbers of the parts of devices. A device that is gone keeps its numbers, because it may return. When there is no room
/// for those of another device, the devices that have been gone for longest lose theirs.
public struct MQTTPartNumbers: Sendable, Hashable {
    /// How many devices have numbers. Otherwise a broker could fill the memory with names.
    static let mostDevices = 10_000
    /// How many numbers all devices have together. They are also in the state folder.
    static let most = 32_768

    /// The number of each part of each device, by their names.
    public private(set) var numbers: [String: [String: Int]]
    /// How many numbers these are.
    private var count: Int
    /// The devices that are gone, with numbers that grow in the order in which the devices left.
    private var departures: [String: Int]
    private var nextDeparture: Int

    /// The numbers that an earlier run has kept.
    /// - Parameter gone: the devices that are gone, the first one for longest.
    public init(_ numbers: [String: [String: Int]] = [:], gone: [String] = []) {
        self.numbers = numbers
        count = numbers.values.reduce(0) { $0 + $1.count }
        let left = gone.filter { numbers[$0] != nil }
        departures = Dictionary(left.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        nextDeparture = left.count
    }

    /// The devices that are gone, the first one for longest.
    var gone: [String] { departures.sorted { $0.value < $1.value }.map { $0.key } }

    /// Begins a run. The devices of the home are not gone, even if the broker has not described them yet. All others are gone;
    /// those of which that was not known have left last.
    mutating func begin(with home: Set<String>) {
        for device in home { departures[device] = nil }
        for device in numbers.keys.sorted() where !home.contains(device) { depart(device) }
    }

    /// Handles that a device has left. It keeps its numbers until others need the room.
    mutating func depart(_ device: String) {
        guard numbers[device] != nil, departures[device] == nil else { return }
        departures[device] = nextDeparture
        nextDeparture += 1
    }

    /// Keeps the numbers of the parts of a device that is there, unless there is no room for them.
    mutating func keep(_ new: [String: Int], of device: String) {
        departures[device] = nil
        let before = numbers[device]
        let (more, isNew) = (new.count - (before?.count ?? 0), before == nil)
        if !hasRoom(for: more, isNew) { makeRoom(for: more, isNew) }
        guard hasRoom(for: more, isNew) else { return }
        numbers[device] = new
        count += more
    }

    /// Whether there is room for more numbers, and for one more device if it is new.
    private func hasRoom(for more: Int, _ isNew: Bool) -> Bool {
        (more <= 0 || count + more <= Self.most) && (!isNew || numbers.count < Self.mostDevices)
    }

    /// Forgets the devices that have been gone for longest, if that gives enough room. It makes some more room than is needed,
    /// so that not each new device costs a search.
    private mutating func makeRoom(for more: Int, _ isNew: Bool) {
        let theirs = departures.keys.reduce(0) { $0 + (numbers[$1]?.count ?? 0) }
        guard count - theirs + more <= Self.most, !isNew || numbers.count - departures.count < Self.mostDevices
        else { return }
        for device in gone {
            guard
                count + more > Self.most - Self.most / 64
                    || numbers.count >= Self.mostDevices - Self.mostDevices / 64
            else { return }
            count -= numbers.removeValue(forKey: device)?.count ?? 0
            departures[device] = nil
        }
    }
}

extension MQTTPartNumbers: Codable {
    private enum CodingKeys: String, CodingKey { case numbers, gone }

    /// Reads the numbers. Earlier versions wrote them alone, without saying which devices are gone.
    public init(from decoder: any Decoder) throws {
        // In the present form, `gone` is a list and not an object.
        if let numbers = try? decoder.singleValueContainer().decode([String: [String: Int]].self) {
            self.init(numbers)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode([String: [String: Int]].self, forKey: .numbers),
            gone: try container.decode([String].self, forKey: .gone))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(numbers, forKey: .numbers)
        try container.encode(gone, forKey: .gone)
    }
}
