import AutomationGraph
import HomeTypes

/// What the commands of runs have done to devices, so that the engine recognizes a run that one of them caused.
///
/// What happens at a device soon after a command counts as its consequence, if the command can lead to it. Some
/// consequences come later, and are remembered until they are over: the end of a recording that a command started, the
/// end of a detection that began soon after a command, and the end of a cover's movement.
struct Causes: Sendable {
    /// Commands of one trait whose consequences may start runs.
    private struct Cause: Sendable {
        var trait: String
        /// How many runs led to the command.
        var depth: Int
        /// The last moment at which something is treated as its consequence, by the uptime.
        var until: Int64
        /// Whether a cover that it has set moving has not stopped yet.
        var isMoving = false
    }

    /// Something at a device that has a beginning and an end.
    private struct Stay: Hashable, Sendable {
        var entity: String
        var kind: ObservedEvent.Stay
    }

    /// By device.
    private var recent: [String: [Cause]] = [:]
    private var stays: [Stay: (depth: Int, until: Int64)] = [:]
    /// How many stays are remembered at most. Further ones replace those that end first.
    private static let largestCount = 1_024

    /// A run is about to send a command, or it has been answered.
    mutating func record(_ action: GraphAction, depth: Int, _ limits: EngineLimits, _ now: EngineTime) {
        let (entity, trait) = (action.target.entity.id, action.target.trait)
        var causes = (recent[entity] ?? []).filter { $0.until >= now.uptime }
        let earlier = causes.first { $0.trait == trait }
        // A run that a person starts does not restart a chain.
        let depth = max(earlier?.depth ?? 0, depth)
        // A cover may report that it moves before the command is answered.
        let isMoving = earlier?.isMoving ?? false
        let length = isMoving ? limits.longestMovement : limits.causeWindow
        causes.removeAll { $0.trait == trait }
        causes.append(Cause(trait: trait, depth: depth, until: now.uptime + length, isMoving: isMoving))
        recent[entity] = causes
        guard case .command("manuallyTriggerTransport", let parameters) = action.behaviour,
            case .integer(let connection)? = parameters["connectionID"]
        else { return }
        remember(Stay(entity: entity, kind: .recording(connection)), depth, limits, now)
    }

    /// How many runs led to a change of a device that is reported now.
    func depth(ofChangeAt entity: String, _ now: EngineTime) -> Int {
        depth(at: entity, now) { _ in true }.map { $0 + 1 } ?? 0
    }

    /// The state of a device was reported. A cover that a command has set moving is still a consequence when it stops.
    mutating func follow(_ state: EntityState, of entity: String, _ limits: EngineLimits, _ now: EngineTime) {
        let name = Matter.WindowCoveringTrait.name
        guard !recent.isEmpty, let causes = recent[entity],
            let index = causes.firstIndex(where: { $0.trait == name && $0.until >= now.uptime }),
            let cover = state.trait(name, deviceType: nil) as? Matter.WindowCoveringTrait,
            let status = cover.operationalStatus,
            // Other reports of the device do not prolong anything.
            causes[index].isMoving == status.isEmpty
        else { return }
        recent[entity]?[index].isMoving = !status.isEmpty
        recent[entity]?[index].until = now.uptime + (status.isEmpty ? limits.causeWindow : limits.longestMovement)
    }

    /// How many runs led to an event. Every event that is reported to the engine must come here, so that what has begun
    /// also ends.
    mutating func depth(of event: ObservedEvent, _ limits: EngineLimits, _ now: EngineTime) -> Int {
        if recent.isEmpty { return 0 }
        let entity = event.entityID
        var depth = depth(at: entity, now) { event.canFollow(from: $0) }
        if let (kind, isEnd) = event.stay {
            let stay = Stay(entity: entity, kind: kind)
            if isEnd {
                let began = stays.removeValue(forKey: stay).flatMap { $0.until >= now.uptime ? $0.depth : nil }
                if let began { depth = max(depth ?? 0, began) }
            } else if let depth {
                remember(stay, depth, limits, now)
            }
        }
        return depth.map { $0 + 1 } ?? 0
    }

    /// The greatest depth of the commands to a device that may have consequences now.
    private func depth(at entity: String, _ now: EngineTime, _ isMeant: (String) -> Bool) -> Int? {
        guard let causes = recent[entity] else { return nil }
        var depth: Int?
        for cause in causes where cause.until >= now.uptime && isMeant(cause.trait) {
            depth = max(depth ?? 0, cause.depth)
        }
        return depth
    }

    private mutating func remember(_ stay: Stay, _ depth: Int, _ limits: EngineLimits, _ now: EngineTime) {
        if stays.count >= Self.largestCount {
            stays = stays.filter { $0.value.until >= now.uptime }
            if stays.count >= Self.largestCount, let first = stays.min(by: { $0.value.until < $1.value.until }) {
                stays[first.key] = nil
            }
        }
        stays[stay] = (max(stays[stay]?.depth ?? 0, depth), now.uptime + limits.longestStay)
    }
}

extension ObservedEvent {
    /// What begins or ends with an event.
    fileprivate enum Stay: Hashable, Sendable {
        /// A recording, by the number of its connection.
        case recording(Int64)
        /// A detection, by its identifier.
        case detection(String)
    }

    /// What begins or ends with the event; nil for an event that has no duration.
    fileprivate var stay: (kind: Stay, isEnd: Bool)? {
        typealias Transport = Google.PushAvStreamTransportTrait
        if trait == Transport.name, case .integer(let connection)? = fields["connectionID"] {
            return (.recording(connection), event == Transport.PushTransportEndEvent.name)
        }
        if case .text(let session)? = fields["eventSessionId"], case .text(let phase)? = fields["phase"] {
            return (.detection(session), phase == "ended")
        }
        return nil
    }

    /// Whether a command of a trait can lead to the event. A camera's recordings do not cause what it sees in a busy
    /// street, and only a command for a virtual doorbell presses its button.
    fileprivate func canFollow(from command: String) -> Bool {
        switch trait {
        case Google.DoorbellPressTrait.name, Google.PushAvStreamTransportTrait.name: command == trait
        case Google.CameraSoundTrait.name: command == Google.ChimeTrait.name
        case Google.CameraMotionTrait.name, Google.CameraPersonTrait.name, Google.CameraFaceTrait.name,
            Google.CameraVehicleTrait.name, Google.CameraAnimalTrait.name, Google.CameraPackageTrait.name:
            command == Google.CameraAvStreamManagementTrait.name
        default: true
        }
    }
}
