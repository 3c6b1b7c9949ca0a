import HomeTypes
import Transport

/// Pictures that were taken for events, for programs and browsers that fetch them a moment later. Each has a name and a token.
final class EventPictures: Sendable {
    private let lifetime: Duration
    private let capacity: Int

    private struct Picture {
        var device: String
        var principal: String
        var jpeg: [UInt8]
        var digest: String
        var takenAt: Instant
    }

    private let pictures = Locked<[String: Picture]>([:])

    /// Keeps pictures for a time.
    /// - Parameters:
    ///   - lifetime: how long; the Smart Device Management API says 30 seconds.
    ///   - capacity: how many. If there are too many, the one who has asked for the most loses the oldest.
    init(lifetime: Duration = .seconds(30), capacity: Int = 32) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Keeps a picture of a device.
    /// - Parameter principal: who has asked for it.
    /// - Returns: its name and its token.
    func add(
        _ jpeg: [UInt8], of device: String, for principal: String, at now: Instant
    ) -> (id: String, token: String) {
        let (id, token) = (TokenRegistry.newID(prefix: "i"), TokenRegistry.newID(prefix: ""))
        pictures.withLock { [lifetime, capacity] pictures in
            pictures = pictures.filter { now - $0.value.takenAt < lifetime }
            if pictures.count >= capacity, let one = Self.displaced(from: pictures, by: principal) {
                pictures[one] = nil
            }
            pictures[id] = Picture(
                device: device, principal: principal, jpeg: jpeg, digest: TokenRegistry.digest(of: token),
                takenAt: now)
        }
        return (id, token)
    }

    /// The picture that gives way to another one of a principal. Nobody displaces those of somebody who has fewer.
    private static func displaced(from pictures: [String: Picture], by principal: String) -> String? {
        let holders = Dictionary(grouping: pictures) { $0.value.principal }
        let most = holders.values.max { $0.count < $1.count } ?? []
        let own = holders[principal] ?? []
        return (own.count >= most.count ? own : most).min { $0.value.takenAt < $1.value.takenAt }?.key
    }

    /// A picture and the device that it shows; nil with another token, or after its time.
    func picture(_ id: String, token: String, at now: Instant) -> (device: String, jpeg: [UInt8])? {
        pictures.withLock { [lifetime] pictures in
            guard let picture = pictures[id], now - picture.takenAt < lifetime,
                picture.digest == TokenRegistry.digest(of: token)
            else { return nil }
            return (picture.device, picture.jpeg)
        }
    }
}
