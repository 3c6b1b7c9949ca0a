import HomeTypes
import Transport

/// Pictures that were taken for events, for programs that fetch them a moment later. Each has a name and a token, and is
/// kept for 30 seconds, as the Smart Device Management API does.
final class EventPictures: Sendable {
    /// How long a picture is kept.
    static let lifetime = Duration.seconds(30)
    /// How many pictures are kept; the oldest gives way.
    static let capacity = 32

    private struct Picture {
        var device: String
        var jpeg: [UInt8]
        var digest: String
        var takenAt: Instant
    }

    private let pictures = Locked<[String: Picture]>([:])

    /// Keeps a picture of a device.
    /// - Returns: its name and its token.
    func add(_ jpeg: [UInt8], of device: String, at now: Instant) -> (id: String, token: String) {
        let (id, token) = (TokenRegistry.newID(prefix: "i"), TokenRegistry.newID(prefix: ""))
        pictures.withLock { pictures in
            pictures = pictures.filter { now - $0.value.takenAt < Self.lifetime }
            if pictures.count >= Self.capacity,
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
        pictures.withLock { pictures in
            guard let picture = pictures[id], now - picture.takenAt < Self.lifetime,
                picture.digest == TokenRegistry.digest(of: token)
            else { return nil }
            return (picture.device, picture.jpeg)
        }
    }
}
