import HTTPMedia
import Transport
import XML

/// A subscription that a device has granted.
public struct PullPoint: Sendable, Equatable {
    /// Where the messages are pulled.
    public var address: HTTPAddress
    /// Headers that the device requires with each request.
    public var referenceParameters: [XMLElement]
    /// How long it lasts unless it is renewed, counted from the answer.
    public var lifetime: Duration

    /// Describes a subscription.
    public init(address: HTTPAddress, referenceParameters: [XMLElement] = [], lifetime: Duration) {
        self.address = address
        self.referenceParameters = referenceParameters
        self.lifetime = lifetime
    }
}

/// The requests to the event service, and their answers (ONVIF Core, section 9.2: real-time pull-point notification).
public enum EventService {
    /// Asks for a subscription to everything that the device reports.
    public static func createPullPointSubscription(_ address: HTTPAddress, lifetimeSeconds: Int) -> ONVIFRequest {
        let operation = "CreatePullPointSubscription"
        var request = ONVIFRequest(
            address: address, action: "\(XMLNamespace.events)/EventPortType/\(operation)Request",
            body: "<tev:\(operation) xmlns:tev=\"\(XMLNamespace.events)\"><tev:InitialTerminationTime>"
                + "\(XMLDateTime.duration(seconds: lifetimeSeconds))</tev:InitialTerminationTime></tev:\(operation)>")
        request.isAddressed = true
        return request
    }

    /// Asks for what has happened; the device answers immediately when something has happened, otherwise after
    /// `waitSeconds`.
    public static func pullMessages(_ pullPoint: PullPoint, waitSeconds: Int, limit: Int = 64) -> ONVIFRequest {
        var request = make(
            pullPoint, "\(XMLNamespace.events)/PullPointSubscription/PullMessagesRequest",
            "<tev:PullMessages xmlns:tev=\"\(XMLNamespace.events)\"><tev:Timeout>"
                + "\(XMLDateTime.duration(seconds: waitSeconds))</tev:Timeout><tev:MessageLimit>\(limit)"
                + "</tev:MessageLimit></tev:PullMessages>")
        request.timeout = .seconds(waitSeconds + 10)
        return request
    }

    /// Asks to extend the subscription to this many seconds from now.
    public static func renew(_ pullPoint: PullPoint, lifetimeSeconds: Int) -> ONVIFRequest {
        make(
            pullPoint, "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/RenewRequest",
            "<wsnt:Renew xmlns:wsnt=\"\(XMLNamespace.notification)\"><wsnt:TerminationTime>"
                + "\(XMLDateTime.duration(seconds: lifetimeSeconds))</wsnt:TerminationTime></wsnt:Renew>")
    }

    /// Ends the subscription.
    public static func unsubscribe(_ pullPoint: PullPoint) -> ONVIFRequest {
        make(
            pullPoint, "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/UnsubscribeRequest",
            "<wsnt:Unsubscribe xmlns:wsnt=\"\(XMLNamespace.notification)\"/>")
    }

    private static func make(_ pullPoint: PullPoint, _ action: String, _ body: String) -> ONVIFRequest {
        var request = ONVIFRequest(address: pullPoint.address, action: action, body: body)
        request.isAddressed = true
        request.referenceParameters = pullPoint.referenceParameters
        return request
    }

    /// Reads the answer to `CreatePullPointSubscription`. `events` is the address of the event service, which is also
    /// the pull point's where a device names none.
    public static func pullPoint(
        _ answer: XMLElement, events: HTTPAddress, askedSeconds: Int
    ) throws(ONVIFError) -> PullPoint {
        guard let reference = answer["SubscriptionReference"] else {
            throw .missing(element: "SubscriptionReference", in: "CreatePullPointSubscriptionResponse")
        }
        return PullPoint(
            address: DeviceService.address(reference["Address"], given: events) ?? events,
            referenceParameters: Array((reference["ReferenceParameters"]?.children ?? []).prefix(16)),
            lifetime: lifetime(answer, askedSeconds: askedSeconds))
    }

    /// How long a subscription lasts, by the answer that granted or renewed it. Both times are by the device's clock,
    /// so their difference is right even where the clock is wrong. If the answer makes no sense, the requested
    /// lifetime counts.
    public static func lifetime(_ answer: XMLElement, askedSeconds: Int) -> Duration {
        guard let current = answer["CurrentTime"].flatMap({ XMLDateTime.parse($0.text) }),
            let end = answer["TerminationTime"].flatMap({ XMLDateTime.parse($0.text) })
        else { return .seconds(askedSeconds) }
        let milliseconds = end.millisecondsSince1970 &- current.millisecondsSince1970
        guard (1000...86_400_000).contains(milliseconds) else { return .seconds(askedSeconds) }
        return .milliseconds(milliseconds)
    }

    /// Reads the answer to `PullMessages`.
    public static func notifications(_ answer: XMLElement) -> [ONVIFNotification] {
        answer.all("NotificationMessage").prefix(256).compactMap(ONVIFNotification.init)
    }
}
