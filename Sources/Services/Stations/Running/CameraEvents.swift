import Cameras
import ONVIF
import Transport

/// The events of one camera besides its media: the intake of its events, and the ONVIF subscription that feeds it if
/// the settings ask for one.
public final class CameraEvents: Sendable {
    /// How the subscription is.
    public enum Status: Sendable, Equatable {
        /// The device that the settings name cannot be used.
        case unusable(ONVIFError)
        /// As the subscription itself says.
        case subscription(ONVIFEventSource.Status)
    }

    private let intake: CameraEventIntake
    private let onvif: ONVIFEventSource?
    /// Reads and changes the camera's settings, on the ONVIF device that sends its events; nil if it has
    /// none.
    public let settings: ONVIFSettingsControl?
    private let observers: Locked<[Int: @Sendable (Status) -> Void]>
    /// Why the settings' ONVIF device cannot be used; nil if it can, or if there is none.
    private let failure: ONVIFError?

    /// Prepares the events of a camera. They go to the station, like those of the camera's own source.
    public init(_ camera: CameraSettings, station: CameraStation) {
        let intake = CameraEventIntake { [weak station] event in station?.handle(event) }
        let observers = Locked<[Int: @Sendable (Status) -> Void]>([:])
        self.intake = intake
        self.observers = observers
        do throws(ONVIFError) {
            let configuration = try Self.configuration(camera)
            let settings = configuration.map { ONVIFSettingsControl(device: $0.device, credentials: $0.credentials) }
            self.settings = settings
            self.onvif = configuration.map { configuration in
                ONVIFEventSource(configuration: configuration, intake: intake) { status in
                    if status.state.isReached { settings?.refresh() }
                    let handlers = observers.withLock { $0 }
                    for handler in handlers.values { handler(.subscription(status)) }
                }
            }
            self.failure = nil
        } catch {
            self.onvif = nil
            self.settings = nil
            self.failure = error
        }
    }

    private static func configuration(
        _ camera: CameraSettings
    ) throws(ONVIFError) -> ONVIFEventSource.Configuration? {
        if let device = camera.events {
            return try .init(
                address: device.url, user: device.user, password: device.password, isDoorbell: camera.isDoorbell)
        }
        guard case .onvif(let url) = camera.source else { return nil }
        return try .init(address: url, user: nil, password: nil, isDoorbell: camera.isDoorbell)
    }

    /// Begins the subscription.
    public func start() { onvif?.start() }

    /// Returns when the subscription has been ended properly, which takes a second at most.
    public func stop() {
        settings?.stop()
        onvif?.stop()
    }

    /// Ends what the camera's sensors have reported as present. Other events take the place of these, or the camera goes:
    /// nobody would report the end, and what waits for it, as a recording does, would go on.
    public func endStays() { intake.end() }

    /// The state of the subscription; nil if the camera has none.
    public var status: Status? {
        if let failure = self.failure { return .unusable(failure) }
        return onvif.map { .subscription($0.status) }
    }

    /// Calls `handler` at each change from now on, under a number that must be unique here. It must not block.
    public func observe(as observer: Int, _ handler: @escaping @Sendable (Status) -> Void) {
        observers.withLock { $0[observer] = handler }
    }

    /// Removes a handler.
    public func stopObserving(_ observer: Int) {
        _ = observers.withLock { $0.removeValue(forKey: observer) }
    }

    /// Accepts a reading that somebody reports.
    /// - Returns: whether it was new.
    public func take(_ reading: SensorReading) -> Bool { intake.take(reading) }
}

extension ONVIFEventSource.State {
    /// Whether the camera was reached just now with the right credentials. One without an event service is, too.
    fileprivate var isReached: Bool {
        switch self {
        case .subscribed, .backingOff(_, .onvif(.unsupported)): true
        default: false
        }
    }
}
