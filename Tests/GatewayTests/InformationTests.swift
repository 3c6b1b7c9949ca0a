import CloudToCloud
import Foundation
import HomeFakes
import HomeHub
import HomeTypes
import Testing

@testable import Gateway

/// What is known about who made a device: from the device itself, and from its owner.
@Suite struct InformationTests {
    typealias Information = Matter.BasicInformationTrait.Attributes

    func read(_ text: String) throws -> Information {
        let configuration = try GatewayConfiguration(
            yaml: "cameras: [{id: a, source: whip, information: \(text)}]\n"
                + "devices: {b: {type: OnOffLight, information: \(text)}}")
        #expect(configuration.cameras[0].information == configuration.devices[0].information)
        return configuration.cameras[0].information
    }

    @Test(
        arguments: [
            (#""0xfff1""#, 0xFFF1), ("0xFFF1", 0xFFF1), ("\" 0Xab \"", 0xAB), ("65521", 65_521), ("\"007\"", 7),
            ("0", 0),
            ("\"\"", nil), ("\"  \"", nil), ("null", nil),
        ] as [(String, UInt16?)])
    func `the alliance's numbers are hexadecimal, decimal or blank`(text: String, number: UInt16?) throws {
        let information = try read("{vendorID: \(text), productID: \(text), productName: ' Cam '}")
        #expect(information.vendorID == number && information.productID == number)
        #expect(information.productName == "Cam" && information.vendorName == nil)
        #expect(information.$vendorID.isSupported == (number != nil))
    }

    @Test(arguments: [
        "{vendorID: 0x10000}", "{vendorID: 65536}", "{vendorID: -1}", "{vendorID: fff1}", "{productID: 0x}",
        "{productID: '0x-1'}", "{vendorID: '+7'}", "{vendorName: \"\(String(repeating: "x", count: 33))\"}",
        "{serialNumber: \"a\\u0007\"}", "{vendorName: [x]}", "{maker: x}", "[x]",
    ])
    func `what is not a number, too long or unknown is reported`(text: String) {
        #expect(throws: ConfigurationError.self) { try read(text) }
    }

    @Test func `a camera's own words are shown, and its owner's count more`() async throws {
        let gateway = try TestGateway()
        var status = EventSourceStatus(state: .subscribed, manufacturer: "Maker", model: "Cam 2")
        status.firmwareVersion = "1.2"
        status.serialNumber = String(repeating: "9", count: 40)
        status.hardwareVersion = ""
        gateway.camera.send(.eventSource(status))
        gateway.camera.finish()
        await gateway.hub.run()
        let own = try #require(
            try await gateway.hub.trait("BasicInformation", of: "door") as? Matter.BasicInformationTrait)
        #expect(own.vendorName == "Maker" && own.productName == "Cam 2" && own.softwareVersionString == "1.2")
        #expect(own.serialNumber == String(repeating: "9", count: 32))
        #expect(!own.attributes.$hardwareVersionString.isSupported && !own.attributes.$vendorID.isSupported)
        #expect(throws: Never.self) { try own.attributes.validate() }

        var door = DeviceDescription(id: "door", name: "Front door", kind: .doorbell)
        door.information = Information(vendorName: "Reseller", vendorID: 0xFFF1)
        await gateway.hub.setDevices([door], drivers: [])
        let known = try #require(
            try await gateway.hub.trait("BasicInformation", of: "door") as? Matter.BasicInformationTrait)
        #expect(known.vendorName == "Reseller" && known.vendorID == 0xFFF1 && known.productName == "Cam 2")
    }

    @Test func `the section cloudToCloud is checked key by key`() throws {
        let client = #"oauth: {clients: [{id: g, redirects: ["https://a.example/b"]}]}"#
        func read(_ section: String) throws -> GatewayConfiguration.ReportState? {
            try GatewayConfiguration(
                yaml: "\(client)\ncloudToCloud: \(section)", environment: ["KEY": "a-key-that-is-long-enough"]
            ).reportState
        }
        #expect(
            try read("{reportState: {client: g, credentials: '${KEY}', url: 'https://c.example/v1/'}}")
                == .init(client: "g", url: "https://c.example/v1", credentials: "a-key-that-is-long-enough"))
        #expect(try read("{reportState: null}") == nil)
        for wrong in [
            "{reportState: {}}", "{reportState: {client: h, credentials: '${KEY}'}}", "{reportState: {client: g}}",
            "{reportState: {client: g, credentials: plain-text-in-the-file}}", "{other: 1}", "{reportState: [g]}",
            "{reportState: {client: g, credentials: '${NONE}'}}",
            "{reportState: {client: g, credentials: '${KEY}', url: 'http://c.example/v1'}}",
            "{reportState: {client: g, credentials: '${KEY}', url: 'https://u:p@c.example/v1'}}",
            "{reportState: {client: g, credentials: '${KEY}', url: 'https://c.example/v1?x=1'}}",
        ] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try read(wrong) }
        }
    }

    @Test(arguments: ["{", "{}", #"{"client_email":"a@b","private_key":"x","token_uri":"http://c.example/"}"#])
    func `the key of a service account is checked before it is used`(text: String) {
        #expect(throws: ServiceAccount.Failure.self) { try ServiceAccount(json: text) }
    }

    @Test func `a key that is not RSA signs nothing`() throws {
        let certificate = try ServerCertificate.selfSigned(names: [])
        for key in ["not a key", certificate.privateKey] {
            let text = try JSONSerialization.data(withJSONObject: ["client_email": "a@b", "private_key": key])
            let account = try ServiceAccount(json: String(decoding: text, as: UTF8.self))
            #expect(throws: ServiceAccount.Failure.self) { try account.tokenRequest(at: Date()) }
        }
    }

    @Test(arguments: [
        (200, CloudReportOutcome.accepted), (204, .accepted), (302, .failed), (308, .failed), (400, .refused),
        (401, .failed), (403, .failed), (404, .refused), (408, .failed), (429, .failed), (500, .failed), (503, .failed),
    ])
    func `a status says whether a report is repeated`(status: Int, expected: CloudReportOutcome) {
        let delivery = ReportClient.delivery(status, .seconds(3), of: "the report")
        let outcome: CloudReportOutcome =
            switch delivery.outcome {
            case .accepted: .accepted
            case .refused: .refused
            case .failed: .failed
            }
        #expect(outcome == expected && (delivery.problem == nil) == (expected == .accepted))
    }

    enum CloudReportOutcome: Sendable { case accepted, refused, failed }
}
