import DatagramPort
import HTTPMedia
import ONVIF
import RTSP
import Transport

/// Receives a camera's events by ONVIF, on its own thread. Events go to the camera's intake, and the subscription's
/// status can be read.
public final class ONVIFEventSource: Sendable {
    /// The state of the subscription.
    public enum State: Sendable, Equatable {
        /// Never started.
        case idle
        /// Connecting or subscribing.
        case connecting
        /// Subscribed: events come.
        case subscribed
        /// The last attempt failed for `reason`; the next one begins in `seconds`.
        case backingOff(seconds: Double, reason: CameraFailure)
        /// Stopped by its owner.
        case stopped
    }

    /// The status of the source.
    public struct Status: Sendable, Equatable {
        /// The state of the subscription.
        public var state: State
        /// The device's information, once it has reported it.
        public var information: DeviceInformation?
    }

    /// What the source needs to know about its camera.
    public struct Configuration: Sendable {
        /// The device service.
        public var device: HTTPAddress
        /// The credentials; nil for a device that needs none.
        public var credentials: RTSPCredentials?
        /// Whether a contact on the device is the doorbell's button.
        public var isDoorbell: Bool
        /// The subscription's intervals.
        public var subscriber = EventSubscriber.Configuration()

        /// Describes a camera.
        public init(device: HTTPAddress, credentials: RTSPCredentials?, isDoorbell: Bool) {
            self.device = device
            self.credentials = credentials
            self.isDoorbell = isDoorbell
        }

        /// Describes a camera by its address, `onvif://user:password@host:port` or `http://…`. `user` and `password`
        /// count where the address holds none.
        public init(address: String, user: String?, password: String?, isDoorbell: Bool) throws(ONVIFError) {
            let (device, found) = try HTTPAddress.parse(onvif: address)
            let given = user.map { RTSPCredentials(user: $0, password: password ?? "") }
            self.init(device: device, credentials: found ?? given, isDoorbell: isDoorbell)
        }
    }

    private struct Shared {
        var control: SourceControl?
        var status = Status(state: .idle)
    }

    private let configuration: Configuration
    private let intake: CameraEventIntake
    private let shared = Locked(Shared())
    private let statusChanged: @Sendable (Status) -> Void

    /// A source for one camera.
    /// - Parameters:
    ///   - configuration: the camera.
    ///   - intake: receives the events.
    ///   - statusChanged: called on the source's thread when the status has changed; must not wait.
    public init(
        configuration: Configuration, intake: CameraEventIntake,
        statusChanged: @escaping @Sendable (Status) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.intake = intake
        self.statusChanged = statusChanged
    }

    deinit {
        _ = shared.withLock { $0.control }?.stop()
    }

    /// The status of the source.
    public var status: Status { shared.withLock { $0.status } }

    /// Starts the source; returns immediately.
    public func start() {
        let control = shared.withLock { shared -> SourceControl? in
            guard shared.control == nil, let control = SourceControl() else { return nil }
            shared.control = control
            return control
        }
        guard let control else { return }
        // The thread must hold neither the source nor the lock around it: their end would wait for the thread.
        let worker = Worker(
            configuration: configuration, intake: intake, control: control,
            report: { [weak self] state, information in self?.report(state, information, from: control) })
        if !startDetachedThread(name: "camera-events", { worker.run() }) {
            shared.withLock { $0.control = nil }
            report(.backingOff(seconds: 0, reason: .noThread), nil, from: nil)
        }
    }

    /// Ends the subscription at the device; returns when the source's thread has ended, within a second.
    public func stop() {
        guard let control = shared.withLock({ $0.control }) else { return }
        _ = control.stop()
        report(.stopped, nil, from: control)
        shared.withLock { $0.control = nil }
    }

    private func report(_ state: State, _ information: DeviceInformation?, from control: SourceControl?) {
        let changed = shared.withLock { shared -> Status? in
            guard shared.control === control else { return nil }
            let before = shared.status
            shared.status.state = state
            if let information { shared.status.information = information }
            return shared.status == before ? nil : shared.status
        }
        if let changed { statusChanged(changed) }
    }
}

/// The thread's work.
private struct Worker: Sendable {
    let configuration: ONVIFEventSource.Configuration
    let intake: CameraEventIntake
    let control: SourceControl
    let report: @Sendable (ONVIFEventSource.State, DeviceInformation?) -> Void

    func run() {
        var subscriber = EventSubscriber(
            device: configuration.device, configuration: configuration.subscriber, random: .system)
        var client = ONVIFClient(credentials: configuration.credentials, control: control, random: .system)
        report(.connecting, nil)
        while !control.isStopping {
            switch subscriber.pollAction(at: MonotonicClock.now) {
            case .wait(let end):
                control.wait(end - MonotonicClock.now)
                _ = control.takeKeyFrameRequests()
            case .send(let request):
                guard case .answered(let outcome) = client.call(request) else { return }
                subscriber.handle(outcome, at: MonotonicClock.now, wallTime: .now)
                while let event = subscriber.pollEvent() { take(event, &client) }
            }
        }
        // The final request uses a separate connection, which the stop does not interrupt.
        if let farewell = subscriber.farewell(), let last = SourceControl() {
            client.control = last
            _ = client.call(farewell)
        }
        control.markEnded()
    }

    private func take(_ event: EventSubscriber.Event, _ client: inout ONVIFClient) {
        switch event {
        case .clockOffset(let milliseconds): client.clockOffset = milliseconds
        case .information(let information): report(.connecting, information)
        case .subscribed: report(.subscribed, nil)
        case .failed(let error, let pause):
            report(.backingOff(seconds: pause.inSeconds, reason: .onvif(error)), nil)
        case .notification(let notification):
            for reading in notification.readings {
                guard let subject = subject(reading.subject) else { continue }
                intake.take(
                    SensorReading(
                        subject: subject, sensor: "\(notification.key)#\(reading.subject.rawValue)",
                        isActive: notification.operation == .deleted ? false : reading.isActive,
                        isInitial: notification.operation == .initialized, cameraTime: notification.time))
            }
        }
    }

    private func subject(_ subject: DetectionSubject) -> SensorReading.Subject? {
        switch subject {
        case .button: .button(ButtonPress())
        // At a doorbell the button is wired to the contact. At a camera the contact may be anything.
        case .digitalInput: configuration.isDoorbell ? .button(ButtonPress()) : nil
        case .motion: .detection(.motion)
        case .person: .detection(.person)
        case .face: .detection(.face)
        case .vehicle: .detection(.vehicle)
        case .animal: .detection(.animal)
        case .package: .detection(.package)
        case .sound: .detection(.sound)
        }
    }
}
