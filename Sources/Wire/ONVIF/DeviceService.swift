import HTTPMedia
import Transport
import XML

/// What a device says about itself (ONVIF Core, section 8.1).
public struct DeviceInformation: Sendable, Hashable {
    /// The maker.
    public var manufacturer: String
    /// The model.
    public var model: String
    /// The firmware's version.
    public var firmwareVersion: String
    /// The serial number.
    public var serialNumber: String
    /// The version of the hardware.
    public var hardwareID: String

    /// Describes a device. A text that it does not give is empty.
    public init(
        manufacturer: String, model: String, firmwareVersion: String, serialNumber: String = "", hardwareID: String = ""
    ) {
        self.serialNumber = serialNumber
        self.hardwareID = hardwareID
        self.manufacturer = manufacturer
        self.model = model
        self.firmwareVersion = firmwareVersion
    }
}

/// Where a device's services are.
public struct ServiceAddresses: Sendable, Hashable {
    /// The media service of version 1; nil where the device names none.
    public var media: HTTPAddress?
    /// The events service; nil where the device names none.
    public var events: HTTPAddress?
    /// The imaging service; nil where the device names none.
    public var imaging: HTTPAddress?

    /// Names the services.
    public init(media: HTTPAddress? = nil, events: HTTPAddress? = nil, imaging: HTTPAddress? = nil) {
        self.media = media
        self.events = events
        self.imaging = imaging
    }
}

/// The requests to the device service, and their answers (ONVIF Core, section 8).
public enum DeviceService {
    /// Asks for the time by the device's clock. The request carries no credentials, since these need the answer.
    public static func getSystemDateAndTime(_ address: HTTPAddress) -> ONVIFRequest {
        var request = make(address, "GetSystemDateAndTime")
        request.needsCredentials = false
        return request
    }

    /// Asks for maker, model and firmware.
    public static func getDeviceInformation(_ address: HTTPAddress) -> ONVIFRequest {
        make(address, "GetDeviceInformation")
    }

    /// Asks where the services are.
    public static func getServices(_ address: HTTPAddress) -> ONVIFRequest {
        var request = make(address, "GetServices")
        request.body =
            "<tds:GetServices xmlns:tds=\"\(XMLNamespace.device)\">"
            + "<tds:IncludeCapability>false</tds:IncludeCapability></tds:GetServices>"
        return request
    }

    /// Asks the same of devices that are older than `GetServices`.
    public static func getCapabilities(_ address: HTTPAddress) -> ONVIFRequest {
        var request = make(address, "GetCapabilities")
        request.body =
            "<tds:GetCapabilities xmlns:tds=\"\(XMLNamespace.device)\">"
            + "<tds:Category>All</tds:Category></tds:GetCapabilities>"
        return request
    }

    private static func make(_ address: HTTPAddress, _ operation: String) -> ONVIFRequest {
        ONVIFRequest(
            address: address, action: "\(XMLNamespace.device)/\(operation)",
            body: "<tds:\(operation) xmlns:tds=\"\(XMLNamespace.device)\"/>")
    }

    /// Reads the answer to `GetSystemDateAndTime`: UTC where it is given, otherwise the local time as if it were UTC,
    /// which is what devices without a time zone mean.
    public static func systemDateAndTime(_ answer: XMLElement) throws(ONVIFError) -> WallTime {
        guard let element = answer.firstDescendant("UTCDateTime") ?? answer.firstDescendant("LocalDateTime"),
            let date = element["Date"], let time = element["Time"]
        else { throw .missing(element: "UTCDateTime", in: "GetSystemDateAndTimeResponse") }
        func number(_ parent: XMLElement, _ name: String) -> Int { parent[name].flatMap { Int($0.text) } ?? -1 }
        guard
            let result = XMLDateTime.time(
                year: number(date, "Year"), month: number(date, "Month"), day: number(date, "Day"),
                hour: number(time, "Hour"), minute: number(time, "Minute"), second: number(time, "Second"))
        else { throw .missing(element: "a time that exists", in: "GetSystemDateAndTimeResponse") }
        return result
    }

    /// Reads the answer to `GetDeviceInformation`.
    public static func deviceInformation(_ answer: XMLElement) -> DeviceInformation {
        func text(_ name: String) -> String { (answer.firstDescendant(name)?.text ?? "").printable(upTo: 64) }
        return DeviceInformation(
            manufacturer: text("Manufacturer"), model: text("Model"), firmwareVersion: text("FirmwareVersion"),
            serialNumber: text("SerialNumber"), hardwareID: text("HardwareId"))
    }

    /// Reads the answer to `GetServices`. `given` is the address under which the device was just reached.
    public static func services(_ answer: XMLElement, given: HTTPAddress) -> ServiceAddresses {
        var result = ServiceAddresses()
        for service in answer.all("Service") {
            let address = Self.address(service["XAddr"], given: given)
            switch service["Namespace"]?.text {
            case XMLNamespace.media: result.media = address
            case XMLNamespace.events: result.events = address
            case XMLNamespace.imaging: result.imaging = address
            default: break
            }
        }
        return result
    }

    /// Reads the answer to `GetCapabilities`.
    public static func capabilities(_ answer: XMLElement, given: HTTPAddress) -> ServiceAddresses {
        guard let capabilities = answer["Capabilities"] else { return ServiceAddresses() }
        return ServiceAddresses(
            media: Self.address(capabilities["Media"]?["XAddr"], given: given),
            events: Self.address(capabilities["Events"]?["XAddr"], given: given),
            imaging: Self.address(capabilities["Imaging"]?["XAddr"], given: given))
    }

    /// An XAddr as it is reached from here; nil where the element does not hold one.
    static func address(_ element: XMLElement?, given: HTTPAddress) -> HTTPAddress? {
        guard let element, let parsed = try? HTTPAddress.parse(onvif: element.text) else { return nil }
        return parsed.address.reached(by: given)
    }
}
