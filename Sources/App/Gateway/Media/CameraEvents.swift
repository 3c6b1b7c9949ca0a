import Cameras
import Foundation
import HomeHub
import HomeTypes
import ONVIF
import Signalling
import Transport

/// The events of one camera besides its media: the intake of its events, and the ONVIF subscription that feeds it if
/// the config asks for one.
final class CameraEvents: Sendable {
    private let intake: CameraEventIntake
    private let onvif: ONVIFEventSource?
    private let observers: Locked<[Int: @Sendable (EventSourceStatus) -> Void]>
    /// Why the config's ONVIF device cannot be used; nil if it can, or if there is none.
    private let failure: String?

    /// Prepares the events of a camera. They go to the station, like those of the camera's own source.
    init(_ camera: GatewayConfiguration.Camera, station: CameraStation) {
        let intake = CameraEventIntake { [weak station] event in station?.handle(event) }
        let observers = Locked<[Int: @Sendable (EventSourceStatus) -> Void]>([:])
        self.intake = intake
        self.observers = observers
        do {
            self.onvif = try Self.configuration(camera).map { configuration in
                ONVIFEventSource(configuration: configuration, intake: intake) { status in
                    let handlers = observers.withLock { $0 }
                    for handler in handlers.values { handler(EventSourceStatus(status)) }
                }
            }
            self.failure = nil
        } catch {
            self.onvif = nil
            self.failure = error.description
        }
    }

    private static func configuration(
        _ camera: GatewayConfiguration.Camera
    ) throws(ONVIFError) -> ONVIFEventSource.Configuration? {
        let isDoorbell = camera.kind == .doorbell
        if let device = camera.onvif {
            return try .init(
                address: device.url, user: device.username, password: device.password, isDoorbell: isDoorbell)
        }
        guard case .onvif(let url) = camera.source else { return nil }
        return try .init(address: url, user: nil, password: nil, isDoorbell: isDoorbell)
    }

    func start() { self.onvif?.start() }

    /// Returns when the subscription has been ended properly, which takes a second at most.
    func stop() { self.onvif?.stop() }

    /// The state of the subscription; nil if the camera has none.
    var status: EventSourceStatus? {
        if let failure = self.failure { return EventSourceStatus(state: .stopped, reason: failure) }
        return self.onvif.map { EventSourceStatus($0.status) }
    }

    /// Calls `handler` at each change from now on, under a number that must be unique here. It must not block.
    func observe(as observer: Int, _ handler: @escaping @Sendable (EventSourceStatus) -> Void) {
        self.observers.withLock { $0[observer] = handler }
    }

    /// Removes a handler.
    func stopObserving(_ observer: Int) {
        _ = self.observers.withLock { $0.removeValue(forKey: observer) }
    }

    /// Accepts an event that somebody reports.
    /// - Returns: whether it was new.
    func report(_ event: ReportedEvent) -> Bool {
        let subject: SensorReading.Subject
        if let detection = event.type.detection {
            guard let kind = CameraDetection.Kind(rawValue: detection.rawValue) else { return false }
            subject = .detection(kind)
        } else {
            subject = .button(
                ButtonPress(
                    toneID: event.complementaryToneId, seconds: event.doorbellPressTimeSeconds,
                    priority: event.priority))
        }
        return self.intake.take(
            SensorReading(subject: subject, sensor: "webhook#\(event.type.rawValue)", isActive: event.active))
    }
}

extension EventSourceStatus {
    init(_ status: ONVIFEventSource.Status) {
        let information = status.information
        switch status.state {
        case .idle, .connecting: self.init(state: .connecting)
        case .subscribed: self.init(state: .subscribed)
        case .backingOff(let seconds, let reason):
            self.init(state: .backingOff, reason: "\(reason); the next try is in \(Int(seconds.rounded(.up))) s")
        case .stopped: self.init(state: .stopped)
        }
        self.manufacturer = information?.manufacturer
        self.model = information?.model
    }
}

extension DetectionEvent {
    /// The home's form of a camera's detection. `run` keeps the stays of several runs of the process apart.
    init?(_ detection: CameraDetection, run: String) {
        guard let kind = DetectionKind(rawValue: detection.kind.rawValue),
            let phase = Phase(rawValue: detection.phase.rawValue)
        else { return nil }
        self.init(
            kind: kind, phase: phase, eventSessionId: "\(run)-\(detection.stay)",
            cameraTimestamp: detection.cameraTime.map {
                Date(timeIntervalSince1970: Double($0.millisecondsSince1970) / 1000)
            })
    }
}

extension Google.DoorbellPressTrait.DoorbellPressedEvent {
    init(_ press: ButtonPress) {
        self.init(
            complementaryToneId: press.toneID, doorbellPressTimeSeconds: press.seconds, priority: press.priority)
    }
}
