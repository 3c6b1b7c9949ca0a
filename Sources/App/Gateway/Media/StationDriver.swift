import Cameras
import HomeHub
import HomeTypes
import Stations
import Transport

/// The home's view of a camera station.
struct StationDriver: CameraDriver {
    let station: CameraStation
    let source: ReplaceableSource
    let events: CameraEvents
    let sounds: [CameraSound]
    /// A name of this driver, so that its stays are not confused with those of another one.
    let run: String
    /// What the home has not read yet.
    private let inbox = Locked<UpdateInbox?>(nil)

    init(_ camera: RunningCamera, sounds: [CameraSound] = [.doorbell], run: String) {
        self.init(station: camera.station, source: camera.source, events: camera.events, sounds: sounds, run: run)
    }

    init(
        station: CameraStation, source: ReplaceableSource, events: CameraEvents, sounds: [CameraSound] = [.doorbell],
        run: String
    ) {
        self.sounds = sounds
        self.station = station
        self.source = source
        self.events = events
        self.run = run
    }

    var deviceID: String { station.id }

    var hasSpeaker: Bool { source.speaker != nil }

    var isOnDemand: Bool { station.pull == .onDemand }

    func updates() -> AsyncStream<CameraUpdate> {
        let inbox = UpdateInbox()
        self.inbox.withLock { $0 = inbox }
        // The station keeps the handler. A handler that kept the station would keep both for ever.
        let observer = station.observe { [weak station = station, run = run] event in
            guard let station else { return }
            switch event {
            case .state, .tracks: inbox.add { .source(CameraSourceStatus(station.snapshot)) }
            case .buttonPressed(let press): inbox.add(.doorbellPressed(.init(press)))
            case .detection(let detection):
                if let event = DetectionEvent(detection, run: run) { inbox.add(.detection(event)) }
            case .senderReport: break
            }
        }
        let addEventSource: @Sendable (CameraEvents) -> Void = { events in
            inbox.add { events.status.map { .eventSource(EventSourceStatus($0)) } }
        }
        events.observe(as: observer) { [weak events] _ in
            if let events { addEventSource(events) }
        }
        let addSettings: @Sendable (ONVIFSettingsControl) -> Void = { control in
            inbox.add { control.state.map { .settings(.init($0)) } }
        }
        events.settings?.observe(as: observer) { [weak control = events.settings] _ in
            if let control { addSettings(control) }
        }
        // The states as they are now. They are read after the handlers are in place: a change in between would be lost.
        inbox.add { .source(CameraSourceStatus(station.snapshot)) }
        addEventSource(events)
        if let control = events.settings { addSettings(control) }
        // A follower releases the stream at the end, and this object with it.
        let following = Following { [weak station = station, weak events = events] in
            inbox.finish()
            station?.stopObserving(observer)
            events?.stopObserving(observer)
            events?.settings?.stopObserving(observer)
        }
        return AsyncStream(unfolding: { await following.next(of: inbox) }, onCancel: { following.end() })
    }

    /// Calls its end once: when it is asked to, or when it is released.
    private final class Following: Sendable {
        private let atEnd: Locked<(@Sendable () -> Void)?>

        init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = Locked(atEnd) }

        deinit { end() }

        func next(of inbox: UpdateInbox) async -> CameraUpdate? { await inbox.next() }

        func end() { atEnd.withLock { $0.take() }?() }
    }

    func press() async throws(HomeError) {
        guard let button = source.button else {
            throw HomeError.unimplemented("the button of \(deviceID) can only be pressed at the door")
        }
        if button.press() { return }
        guard button.hasButton, station.pull == .onDemand else {
            throw HomeError.failedPrecondition("\(deviceID) has no button that can be pressed now")
        }
        // The camera is not being pulled, and a press starts the pull.
        station.handle(.buttonPressed())
    }

    func report(_ event: ReportedEvent) async throws(HomeError) -> Bool {
        SensorReading(event).map { events.take($0) } ?? false
    }

    func reportsApplied() async { await inbox.withLock { $0 }?.applied() }

    func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        guard let trait = write.trait as? Google.CameraAvStreamManagementTrait, let control = events.settings else {
            throw HomeError.unimplemented("\(deviceID) has no settings that can be written")
        }
        return CommandOutcome(updates: [.settings(.init(try await control.write(trait.attributes)))])
    }

    func setOutputs(_ policy: OutputPolicy) async { await station.setOutputs(policy) }

    var speakerReading: SpeakerReading? {
        guard let measurement = source.speakerMeasurement else { return nil }
        return SpeakerReading(
            samples: measurement.samples, rootMeanSquare: measurement.rootMeanSquare,
            dominantFrequency: measurement.dominantTone)
    }
}
