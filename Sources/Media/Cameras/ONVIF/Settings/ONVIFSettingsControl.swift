import DatagramPort
import HTTPMedia
import ONVIF
import RTSP
import Transport

/// Reads and changes a camera's settings by ONVIF: night vision and wide dynamic range by the imaging service, the rotation of
/// the picture and the level of the loudspeaker by the media service. Each request runs on a thread of its own and has a deadline.
///
/// What is changed at the camera itself, with its own page or app, is found by asking again each minute: few devices report it.
public final class ONVIFSettingsControl: Sendable {
    /// The seconds that a reading or a change may take altogether.
    public static let patience = 15
    /// How long after a reading the settings are read again.
    private static let interval = Duration.seconds(60)

    private struct Shared {
        var place: SettingsConversation.Place?
        var state: ONVIFSettingsState?
        /// Counts the changes. What was read before one must not replace what was read after it.
        var changes = 0
        var isReading = false
        var readsAgain = false
        /// Whether the next reading asks first where the settings are and what they can be.
        var locates = false
        /// Waits for the next reading.
        var timer: Task<Void, Never>?
        var isStopped = false
        var controls: [ObjectIdentifier: SourceControl] = [:]
        var observers: [Int: @Sendable (ONVIFSettingsState) -> Void] = [:]
    }

    private let device: HTTPAddress
    private let credentials: RTSPCredentials?
    private let limit: Duration
    private let interval: Duration
    private let shared = Locked(Shared())

    /// Prepares the control of one camera; it sends nothing yet.
    public convenience init(device: HTTPAddress, credentials: RTSPCredentials?) {
        self.init(
            device: device, credentials: credentials, limit: .seconds(Self.patience), interval: Self.interval)
    }

    /// - Parameters:
    ///   - limit: how long a reading or a change may take altogether.
    ///   - interval: how long after a reading the settings are read again.
    init(device: HTTPAddress, credentials: RTSPCredentials?, limit: Duration, interval: Duration) {
        self.device = device
        self.credentials = credentials
        self.limit = limit
        self.interval = interval
    }

    deinit { stop() }

    /// The settings as they were last read; nil before the camera has answered.
    public var state: ONVIFSettingsState? { shared.withLock { $0.state } }

    /// Calls `handler` at each change of ``state`` from now on, under a number that must be unique here. It must not block.
    public func observe(as observer: Int, _ handler: @escaping @Sendable (ONVIFSettingsState) -> Void) {
        shared.withLock { $0.observers[observer] = handler }
    }

    /// Removes a handler.
    public func stopObserving(_ observer: Int) {
        _ = shared.withLock { $0.observers.removeValue(forKey: observer) }
    }

    /// Ends what is under way, and permits nothing more.
    public func stop() {
        let controls = shared.withLock { shared in
            shared.isStopped = true
            shared.timer?.cancel()
            return Array(shared.controls.values)
        }
        for control in controls { control.requestStop() }
    }

    /// Reads the settings in the background, since the camera is there, perhaps with other settings. They are read again each
    /// minute from then on. A camera that refuses the credentials is asked again when it has connected again.
    public func refresh() { read(locating: true) }

    private func read(locating: Bool) {
        let begins = shared.withLock { shared in
            guard !shared.isStopped else { return false }
            shared.timer?.cancel()
            shared.locates = shared.locates || locating
            shared.readsAgain = shared.isReading && locating
            defer { shared.isReading = true }
            return !shared.isReading
        }
        guard begins else { return }
        Task { [weak self] in
            var goesOn = true
            while goesOn { goesOn = await self?.readOnce() ?? false }
        }
    }

    /// Returns whether somebody has asked for another reading meanwhile.
    private func readOnce() async -> Bool {
        let (changes, known) = shared.withLock { shared in
            defer { shared.locates = false }
            return (shared.changes, shared.locates ? nil : shared.place)
        }
        let result: Result<(place: SettingsConversation.Place, state: ONVIFSettingsState), ONVIFError>
        do throws(ONVIFError) {
            result = .success(
                try await perform { conversation throws(ONVIFError) in
                    let place: SettingsConversation.Place
                    if let known { place = known } else { place = try conversation.locate() }
                    return (place, try conversation.read(place))
                })
        } catch {
            result = .failure(error)
        }
        let again = shared.withLock { shared in
            switch result {
            case .success(let found): if known == nil { shared.place = found.place }
            // Where they are may have changed with the camera's firmware.
            case .failure: shared.locates = true
            }
            defer { shared.readsAgain = false }
            shared.isReading = shared.readsAgain && !shared.isStopped
            return shared.isReading
        }
        switch result {
        case .success(let found):
            adopt(found.state, unlessChangedSince: changes)
            if !again { readLater() }
        case .failure(let error):
            // Trying the same password each minute would lock the account of some cameras.
            if !again, !error.isRefusal { readLater() }
        }
        return again
    }

    private func readLater() {
        shared.withLock { shared in
            guard !shared.isStopped else { return }
            shared.timer?.cancel()
            shared.timer = Task { [weak self, interval] in
                guard (try? await Task.sleep(for: interval)) != nil else { return }
                self?.read(locating: false)
            }
        }
    }

    /// Changes what `wanted` has, and reads what has become of it. If it fails, a part of it may be changed; what is set
    /// then is read in the background.
    /// - Returns: the settings as they are then.
    /// - Throws: what the camera said, `noAnswer` after ``patience``, or `unsupported` if it no longer offers this.
    public func set(_ wanted: ONVIFSettings) async throws(ONVIFError) -> ONVIFSettingsState {
        let (known, before) = shared.withLock { shared in
            shared.changes += 1
            return (shared.place, shared.state ?? ONVIFSettingsState())
        }
        do throws(ONVIFError) {
            let (place, state) = try await perform { conversation throws(ONVIFError) in
                let place: SettingsConversation.Place
                if let known { place = known } else { place = try conversation.locate() }
                try conversation.set(wanted, at: place)
                do throws(ONVIFError) {
                    return (place, try conversation.read(place))
                } catch {
                    // Turning the picture restarts some cameras, which have accepted the change anyway.
                    var state = before
                    state.settings = state.settings.with(wanted)
                    return (place, state)
                }
            }
            let changes = shared.withLock { shared in
                shared.place = place
                shared.changes += 1
                return shared.changes
            }
            adopt(state, unlessChangedSince: changes)
            return state
        } catch {
            // A firmware update or a reset may have moved what was found.
            shared.withLock { shared in
                shared.place = nil
                shared.changes += 1
            }
            refresh()
            throw error
        }
    }

    private func adopt(_ state: ONVIFSettingsState, unlessChangedSince changes: Int) {
        let observers = shared.withLock { shared -> [@Sendable (ONVIFSettingsState) -> Void] in
            guard shared.changes == changes, shared.state != state, !shared.isStopped else { return [] }
            shared.state = state
            return Array(shared.observers.values)
        }
        for observer in observers { observer(state) }
    }

    /// Runs a conversation on a thread of its own. It ends by the deadline, even if the system's look-up of the camera's
    /// name takes longer: the thread is then left behind.
    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (inout SettingsConversation) throws(ONVIFError) -> Value
    ) async throws(ONVIFError) -> Value {
        guard let control = SourceControl() else {
            throw .unreachable("the process has no file descriptor left")
        }
        let isStopped = shared.withLock { shared in
            if !shared.isStopped { shared.controls[ObjectIdentifier(control)] = control }
            return shared.isStopped
        }
        guard !isStopped else { throw .stopped }
        defer { _ = shared.withLock { $0.controls.removeValue(forKey: ObjectIdentifier(control)) } }
        let (device, credentials, limit) = (device, credentials, limit)
        let result = await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Result<Value, ONVIFError>, Never>?>(continuation)
            let end: @Sendable (Result<Value, ONVIFError>) -> Void = { result in
                waiting.withLock { $0.take() }?.resume(returning: result)
            }
            let timer = Task {
                // The conversation keeps the deadline by itself, except in a look-up.
                guard (try? await Task.sleep(for: limit + .seconds(1))) != nil else { return }
                control.requestStop()
                end(.failure(.noAnswer(seconds: Int(limit.components.seconds))))
            }
            let isRunning = startDetachedThread(name: "camera-settings") {
                var conversation = SettingsConversation(
                    device: device, client: ONVIFClient(credentials: credentials, control: control, random: .system),
                    deadline: MonotonicClock.now + limit)
                end(Result { () throws(ONVIFError) in try body(&conversation) })
                timer.cancel()
            }
            if !isRunning {
                timer.cancel()
                end(.failure(.unreachable("the process cannot start a thread")))
            }
        }
        return try result.get()
    }
}
