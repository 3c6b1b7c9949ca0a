import Foundation
import HomeTypes
import PushAvStreamTransport
import RecordingUpload
import Transport

/// Turns what the store, the recorders and the uploads report into alarms for the home, and counts what was lost.
///
/// The reports may come once per segment. Losses are therefore collected, and reported once a minute for each camera.
final class RecordingAlarms: Sendable {
    /// What was lost since the start.
    struct Counters: Sendable, Equatable {
        /// Segments that left the queue of uploads because it was full, or because their file was missing.
        var droppedSegments = 0
        var missingSegments = 0
        /// How often a store refused something of a recorder.
        var faults = 0
    }

    private struct Losses: Sendable {
        var segments = 0
        var reportedAt: Date?
    }

    private struct State: Sendable {
        var handler: (@Sendable (HomeAlarm) -> Void)?
        /// What was raised before anyone listened.
        var waiting: [HomeAlarm] = []
        var counters = Counters()
        var condition = StoreCondition.ready
        /// Cameras that are not recorded although they have to be.
        var stopped: Set<String> = []
        /// The recordings of each camera that cannot be uploaded.
        var failing: [String: Set<RecordingSession.ID>] = [:]
        var losses: [String: Losses] = [:]
        /// The latest segment that left a full queue.
        var fullAt: Date?
        var isQueueNotKept = false
    }

    private let state = Locked(State())
    private let now: @Sendable () -> Date

    /// How long a full queue has to be without losses until it counts as one with room, and how often losses are reported.
    static let pause = 60.0
    /// More are not kept for a home that does not listen.
    private static let maximumWaiting = 100

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// What was lost since the start.
    var counters: Counters { state.withLock { $0.counters } }

    /// Sends the alarms there from now on, also those that were raised before. `handler` must not wait.
    func use(_ handler: @escaping @Sendable (HomeAlarm) -> Void) {
        let waiting = state.withLock { state in
            state.handler = handler
            defer { state.waiting = [] }
            return state.waiting
        }
        for alarm in waiting { handler(alarm) }
    }

    // MARK: Reports

    func take(_ event: StoreEvent) {
        guard case .condition(let condition) = event else { return }
        change { state, now in
            let old = state.condition
            state.condition = condition
            var alarms: [HomeAlarm] = []
            if let kind = old.alarm?.kind, kind != condition.alarm?.kind {
                alarms.append(HomeAlarm(kind, .cleared, reason: "recordings can be written again", at: now))
            }
            if let alarm = condition.alarm {
                alarms.append(HomeAlarm(alarm.kind, .raised, reason: alarm.reason, at: now))
            }
            return alarms
        }
    }

    func take(_ report: CameraRecorder.Report, of device: String) {
        switch report {
        case .fault(let fault):
            change { state, now in
                state.counters.faults += 1
                state.stopped.insert(device)
                return [HomeAlarm(.recordingStopped, .raised, of: device, reason: fault.description, at: now)]
            }
        case .began, .stopped:
            let isOver =
                if case .began = report { "it is recorded again" } else { "it does not have to be recorded now" }
            change { state, now in
                guard state.stopped.remove(device) != nil else { return [] }
                return [HomeAlarm(.recordingStopped, .cleared, of: device, reason: isOver, at: now)]
            }
        case .ended, .refused, .keyFrameInterval: break
        }
    }

    func take(_ report: RecordingUploader.Report) {
        switch report {
        case .queue(.failing(let id, _, let reason)):
            change { state, now in
                state.failing[id.device, default: []].insert(id)
                return [HomeAlarm(.uploadFailing, .raised, of: id.device, reason: reason, at: now)]
            }
        case .queue(.recovered(let id, _)), .queue(.completed(let id, _, _)):
            change { state, now in Self.end(id, &state, now) }
        case .queue(.dropped(let id, let segments, _, let reason)):
            change { state, now in Self.lose(segments, of: id, reason, &state, now) }
        case .storageFailed(let failure):
            change { state, now in
                state.isQueueNotKept = true
                return [HomeAlarm(.uploadQueueNotKept, .raised, reason: "\(failure)", at: now)]
            }
        case .storageRecovered:
            change { state, now in
                guard state.isQueueNotKept else { return [] }
                state.isQueueNotKept = false
                return [HomeAlarm(.uploadQueueNotKept, .cleared, reason: "the queue can be written again", at: now)]
            }
        case .queue(.cancel), .damaged: break
        }
    }

    /// The file of the upload endpoints could not be used at the start. Only another start ends that.
    func take(_ loss: UploadStorageFailure) {
        change { _, now in [HomeAlarm(.uploadEndpointsLost, .raised, reason: "\(loss)", at: now)] }
    }

    /// Reports what was collected, and ends what is over.
    /// - Parameter isQueued: whether a recording is in the queue of uploads. A deleted recording leaves the queue without
    ///   a report.
    func tick(isQueued: (RecordingSession.ID) -> Bool) {
        // The queue has its own lock, so it is asked outside this one.
        let failing = state.withLock { $0.failing.values.flatMap(\.self) }
        let gone = failing.filter { !isQueued($0) }.sorted { $0.device < $1.device }
        change { state, now in
            var alarms: [HomeAlarm] = []
            for (device, losses) in state.losses.sorted(by: { $0.key < $1.key }) {
                guard let at = losses.reportedAt, now.timeIntervalSince(at) >= Self.pause else { continue }
                state.losses[device] = nil
                if losses.segments > 0 { alarms.append(Self.lost(losses.segments, of: device, &state, now)) }
            }
            if let fullAt = state.fullAt, now.timeIntervalSince(fullAt) >= Self.pause {
                state.fullAt = nil
                alarms.append(HomeAlarm(.uploadQueueFull, .cleared, reason: "the queue has room again", at: now))
            }
            for id in gone { alarms += Self.end(id, &state, now) }
            return alarms
        }
    }

    // MARK: Deciding

    private static func end(_ id: RecordingSession.ID, _ state: inout State, _ now: Date) -> [HomeAlarm] {
        guard state.failing[id.device]?.remove(id) != nil, state.failing[id.device]?.isEmpty == true else { return [] }
        state.failing[id.device] = nil
        return [HomeAlarm(.uploadFailing, .cleared, of: id.device, reason: "no upload fails now", at: now)]
    }

    private static func lose(
        _ segments: Int, of id: RecordingSession.ID, _ reason: UploadEvent.DropReason, _ state: inout State, _ now: Date
    ) -> [HomeAlarm] {
        var alarms: [HomeAlarm] = []
        switch reason {
        // Somebody wanted it.
        case .privacy, .revoked, .deleted: return []
        case .queueFull:
            state.counters.droppedSegments += segments
            if state.fullAt == nil {
                alarms.append(
                    HomeAlarm(
                        .uploadQueueFull, .raised,
                        reason:
                            "the queue of uploads is full; the oldest footage leaves it and stays in the local store",
                        at: now))
            }
            state.fullAt = now
        case .missing: state.counters.missingSegments += segments
        }
        if state.losses[id.device]?.reportedAt == nil {
            alarms.append(Self.lost(segments, of: id.device, &state, now))
        } else {
            state.losses[id.device]?.segments += segments
        }
        return alarms
    }

    private static func lost(_ segments: Int, of device: String, _ state: inout State, _ now: Date) -> HomeAlarm {
        state.losses[device] = Losses(segments: 0, reportedAt: now)
        return HomeAlarm(
            .segmentsLost, .occurred, of: device, reason: "segments left the queue before they were uploaded",
            segments: segments, at: now)
    }

    /// Changes the state and sends the alarms, in the order of the changes.
    private func change(_ body: (inout State, Date) -> [HomeAlarm]) {
        let now = self.now()
        state.withLock { state in
            for alarm in body(&state, now) {
                if let handler = state.handler {
                    handler(alarm)
                } else if state.waiting.count < Self.maximumWaiting {
                    state.waiting.append(alarm)
                }
            }
        }
    }
}

extension StoreCondition {
    /// The alarm that belongs to it; nil while the store can record.
    fileprivate var alarm: (kind: HomeAlarm.Kind, reason: String)? {
        switch self {
        case .ready: nil
        case .full: (.recordingStorageFull, description)
        case .failing: (.recordingStorageFailing, description)
        }
    }
}
