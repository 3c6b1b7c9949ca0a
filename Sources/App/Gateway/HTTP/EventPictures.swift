import HomeTypes
import Transport

/// Pictures that were taken for events, for programs and browsers that fetch them a moment later. Each has a name and a token.
final class EventPictures: Sendable {
    private let lifetime: Duration
    private let capacity: Int

    private struct Picture {
        var device: String
        var jpeg: [UInt8]
        var digest: String
        var takenAt: Instant
    }

    private let pictures = Locked<[String: Picture]>([:])

    /// Keeps pictures for a time.
    /// - Parameters:
    ///   - lifetime: how long; the Smart Device Management API says 30 seconds.
    ///   - capacity: how many; the oldest gives way.
    init(lifetime: Duration = .seconds(30), capacity: Int = 32) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// Keeps a picture of a device.
    /// - Returns: its name and its token.
    func add(_ jpeg: [UInt8], of device: String, at now: Instant) -> (id: String, token: String) {
        let (id, token) = (TokenRegistry.newID(prefix: "i"), TokenRegistry.newID(prefix: ""))
        pictures.withLock { [lifetime, capacity] pictures in
            pictures = pictures.filter { now - $0.value.takenAt < lifetime }
            if pictures.count >= capacity,
                let oldest = pictures.min(by: { $0.value.takenAt < $1.value.takenAt })
            {
                pictures[oldest.key] = nil
            }
            pictures[id] = Picture(
                device: device, jpeg: jpeg, digest: TokenRegistry.digest(of: token), takenAt: now)
        }
        return (id, token)
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
