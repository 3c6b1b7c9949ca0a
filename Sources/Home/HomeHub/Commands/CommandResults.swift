import Foundation
import HomeTypes
import Signalling
import Transport

/// The results of commands that carried an idempotency key. A repetition gets the first result and has no effect of its
/// own.
///
/// Bounded in time and in number. If there are too many, the principal with the most results loses its oldest, so a
/// principal displaces only its own. The type is pure: the caller passes the time.
struct CommandResults {
    /// Names a command and its repetitions.
    struct Key: Hashable {
        let principal: String
        let deviceID: String
        var endpoint: UInt16?
        let trait: String
        let command: String
        let idempotencyKey: String
    }

    /// The outcome of a command.
    typealias Outcome = Task<Result<Data, HomeError>, Never>

    private struct Entry {
        /// The fingerprint of the command's parameters.
        let parameters: UInt64
        let outcome: Outcome
        /// When the command was applied; nil while it runs.
        var end: Instant?
    }

    /// How long a result is kept.
    static let lifetime: Duration = .seconds(600)
    /// The same in seconds, for results that an earlier run has kept.
    static let longestLife = 600.0
    /// How many results are kept, including commands that are running.
    static let capacity = 512
    /// How principals share the places for commands that are running. Unlike results, these never give way to others.
    static let shares = PlaceShares(total: capacity)
    /// The longest key, in bytes.
    static let longestKey = 255

    private var entries: [Key: Entry] = [:]
    /// Each principal's keys, oldest first.
    private var order: [String: [Key]] = [:]

    /// How many results there are.
    var count: Int { entries.count }

    /// The command that a key has named before.
    /// - Throws: `invalidArgument` if that command had other parameters.
    func outcome(of key: Key, parameters: Data, at now: Instant) throws(HomeError) -> Outcome? {
        guard let entry = entries[key], entry.end.map({ now - $0 < Self.lifetime }) ?? true else { return nil }
        guard entry.parameters == Self.fingerprint(parameters) else {
            throw HomeError.invalidArgument(
                "this Idempotency-Key was sent with other parameters before; use a new key for another command")
        }
        return entry.outcome
    }

    /// Makes room for one more command of a principal.
    /// - Throws: `resourceExhausted` if commands that are running take the principal's share of the places, or all of them.
    mutating func makeRoom(for principal: String, at now: Instant) throws(HomeError) {
        for known in Array(order.keys) {
            while let oldest = order[known]?.first, let end = entries[oldest]?.end,
                now - end >= Self.lifetime
            {
                remove(oldest)
            }
        }
        let running = entries.filter { $0.value.end == nil }.map(\.key.principal)
        if let refusal = Self.shares.refusal(of: principal, holders: running) {
            throw .resourceExhausted(
                "too many commands with an Idempotency-Key are running: \(refusal.words); try again later")
        }
        guard entries.count >= Self.capacity else { return }
        for keys in order.values.sorted(by: { $0.count > $1.count }) {
            guard let oldest = keys.first(where: { entries[$0]?.end != nil }) else { continue }
            remove(oldest)
            return
        }
    }

    /// Adds a command that is running.
    mutating func add(_ key: Key, parameters: Data, _ outcome: Outcome) {
        remove(key)
        entries[key] = Entry(parameters: Self.fingerprint(parameters), outcome: outcome)
        order[key.principal, default: []].append(key)
    }

    /// Adopts what an earlier run kept.
    mutating func adopt(_ kept: [KeptResult], at now: Instant, _ date: Date) {
        for result in kept.suffix(Self.capacity) {
            let age = date.timeIntervalSince(result.time)
            guard age < Self.longestLife else { continue }
            let key = Key(result)
            let outcome: Result<Data, HomeError> =
                result.result.map { .success($0) }
                ?? .failure(
                    .aborted(
                        "the gateway was restarted while \(result.command) ran; check the state before you repeat it"
                    ))
            remove(key)
            entries[key] = Entry(
                parameters: result.parameters, outcome: Outcome { outcome }, end: now - .seconds(max(age, 0)))
            order[key.principal, default: []].append(key)
        }
    }

    /// Records the end of a command. A command that failed had no effect, so its repetition is applied.
    mutating func end(_ key: Key, hasSucceeded: Bool, at now: Instant) {
        if hasSucceeded { entries[key]?.end = now } else { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard entries.removeValue(forKey: key) != nil else { return }
        order[key.principal]?.removeAll { $0 == key }
        if order[key.principal]?.isEmpty == true { order[key.principal] = nil }
    }

    /// Distinguishes parameters. A client that constructs two with the same fingerprint gets the first result for the
    /// second command, and only under one of its own keys.
    static func fingerprint(_ parameters: Data) -> UInt64 { ContentVersion.fingerprint(parameters) }
}

extension CommandResults.Key {
    fileprivate init(_ kept: KeptResult) {
        self.init(
            principal: kept.principal, deviceID: kept.deviceID, endpoint: kept.endpoint, trait: kept.trait,
            command: kept.command, idempotencyKey: kept.idempotencyKey)
    }

    /// Whether a repetition would act twice, so that the result must survive a restart of the gateway.
    ///
    /// The most frequent commands lead to a state that the command itself names: sending them twice makes no
    /// difference. A live view and a talk end with the gateway, so their repetition must start another one.
    var actsTwice: Bool {
        trait != Google.WebRtcLiveViewTrait.name && !Self.repeatable.contains("\(trait).\(command)")
    }

    private static let repeatable: Set<String> = {
        var names: Set<String> = []
        func add<Kind: Trait>(_ trait: Kind.Type, _ commands: String...) {
            for command in commands { names.insert("\(trait.name).\(command)") }
        }
        add(Matter.OnOffTrait.self, "on", "off")
        add(Google.SimplifiedOnOffTrait.self, "on", "off")
        add(Matter.LevelControlTrait.self, "moveToLevel", "moveToLevelWithOnOff", "stop", "stopWithOnOff")
        add(Google.BrightnessTrait.self, "setBrightness")
        add(Google.VolumeTrait.self, "setVolume", "mute")
        add(
            Matter.ColorControlTrait.self, "moveToHue", "moveToSaturation", "moveToHueAndSaturation", "moveToColor",
            "moveToColorTemperature", "enhancedMoveToHue", "enhancedMoveToHueAndSaturation", "stopMoveStep")
        add(
            Matter.WindowCoveringTrait.self, "upOrOpen", "downOrClose", "stopMotion", "goToLiftPercentage",
            "goToTiltPercentage", "goToLiftValue", "goToTiltValue")
        add(Matter.DoorLockTrait.self, "lockDoor", "unlockDoor", "unboltDoor")
        add(Matter.MediaPlaybackTrait.self, "play", "pause", "stop")
        add(
            Google.PushAvStreamTransportTrait.self, "setTransportStatus", "findTransport", "modifyPushTransport",
            "updateMotionZoneOptions")
        return names
    }()
}
