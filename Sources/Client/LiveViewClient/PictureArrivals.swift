import RTP
import Transport

/// Records when the last packet of each picture arrived, so that its age can be calculated later.
///
/// The first report of a camera that nobody watched may be late by up to one picture: it waits with the packets that are read
/// then. So the newest report is used for all. The sender's clock must not drift much in that time.
struct PictureArrivals {
    /// How many are kept: two hours of a camera with 15 pictures a second.
    private static let capacity = 100_000

    private var entries: [(timestamp: UInt32, unixNanoseconds: Int64)] = []
    private var ssrc: UInt32?

    /// How many there are.
    var count: Int { entries.count }

    /// Records the last packet of a picture, which arrived at this time of the wall clock. The timestamps of another source
    /// have another beginning, so those before are forgotten.
    mutating func record(_ packet: RTPPacketView, unixNanoseconds: Int64) {
        if packet.ssrc != ssrc {
            entries.removeAll()
            ssrc = packet.ssrc
        }
        if entries.count < Self.capacity { entries.append((packet.timestamp, unixNanoseconds)) }
    }

    /// The ages in nanoseconds, in the order of arrival; none before the sender's first report.
    func ages(in track: ReceivedMedia) -> [Int64] {
        entries.compactMap { entry in
            track.age(of: entry.timestamp, unixNanoseconds: entry.unixNanoseconds)?.wholeNanoseconds
        }
    }
}
