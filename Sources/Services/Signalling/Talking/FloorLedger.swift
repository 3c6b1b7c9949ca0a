import Transport

/// The leases of all floors: who may talk to each camera. One talker holds a camera's floor, and all others are refused.
/// Pure: the time is passed in.
///
/// A talker's sound renews its lease. A talker that sends nothing for a while loses the floor.
struct FloorLedger {
    /// The talker: a viewer's session, or a clip.
    enum Talker: Hashable, Sendable {
        case session(String)
        case clip(String)

        var kind: TalkKind {
            switch self {
            case .session: .session
            case .clip: .clip
            }
        }
    }

    private struct Hold {
        let talker: Talker
        var lastHeard: Instant
    }

    /// How long a talker may send nothing. Browsers send sound even while nobody speaks.
    let patience: Duration
    private var holds: [String: Hold] = [:]

    init(patience: Duration = .seconds(5)) {
        self.patience = patience
    }

    /// The holder of `deviceID`'s floor.
    func holder(of deviceID: String) -> Talker? { holds[deviceID]?.talker }

    /// The device whose floor `talker` holds.
    func device(of talker: Talker) -> String? { holds.first { $0.value.talker == talker }?.key }

    /// Takes the floor. Taking the floor that one already holds is not an error.
    mutating func take(deviceID: String, talker: Talker, at now: Instant) throws(SignallingError) {
        if let hold = holds[deviceID] {
            guard hold.talker != talker else { return }
            throw .floorTaken(device: deviceID, by: hold.talker.kind)
        }
        // A clip ends by itself.
        if case .clip = talker {
            holds[deviceID] = Hold(talker: talker, lastHeard: .distantFuture)
        } else {
            holds[deviceID] = Hold(talker: talker, lastHeard: now)
        }
    }

    /// Sound of `talker` arrived at `instant`.
    mutating func record(_ talker: Talker, heardAt instant: Instant) {
        guard let device = device(of: talker), let hold = holds[device] else { return }
        holds[device]?.lastHeard = max(hold.lastHeard, instant)
    }

    /// Releases the floor that `talker` holds. Returns the device whose floor is free now.
    mutating func release(_ talker: Talker) -> String? {
        guard let deviceID = device(of: talker) else { return nil }
        holds[deviceID] = nil
        return deviceID
    }

    /// When the next talker loses its floor, unless it sends something before.
    var nextExpiry: Instant? { holds.values.map { $0.lastHeard + patience }.min() }

    /// The talkers that hold a floor.
    var talkers: [Talker] { inOrder.map(\.talker) }

    /// Talkers that have sent nothing for too long.
    func expired(at now: Instant) -> [Talker] {
        inOrder.filter { $0.lastHeard + patience <= now }.map(\.talker)
    }

    /// The holds, sorted by device, so their ends are reported in the same order each time.
    private var inOrder: [Hold] { holds.sorted { $0.key < $1.key }.map(\.value) }
}
