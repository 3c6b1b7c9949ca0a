import HomeFakes
import HomeHub
import RTMPServer
import Signalling
import Testing
import Transport

@testable import Gateway

/// The section `rtmp`, and who may publish by RTMP.
@Suite struct RTMPPublishingTests {
    static let sections: [(String, String?)] = [
        ("", nil), ("rtmp: false", nil), ("rtmp: {}", "127.0.0.1:1935"), ("rtmp: {host: 0.0.0.0}", "0.0.0.0:1935"),
        ("rtmp: {host: \"::\", port: 1936}", ":::1936"),
    ]

    @Test(arguments: sections)
    func `the server is off without the section, and has a usual port`(yaml: String, address: String?) throws {
        let section = try GatewayConfiguration(yaml: yaml).rtmp
        #expect(section.map { "\($0.host):\($0.port)" } == address)
    }

    /// A home whose camera `phone` accepts publishers, and whose camera `door` does not.
    private func admit(
        _ camera: String, _ token: String?, knows: Bool = true
    ) async -> Result<AdmittedPublisher, PublisherRefusal> {
        let (publishers, names) = (PublisherAccess(), DeviceNames())
        names.set(["phone": "pocket", "d2": "door"])
        if knows {
            publishers.set(
                PublisherJudge(
                    mayPublish: { _, _ in true },
                    verdict: { token, device in
                        switch token {
                        case "right": .accepted(principal: "encoder")
                        case "weak": device == "phone" ? .forbidden(.mayNotPublish) : .unknown
                        default: .unknown
                        }
                    }))
        }
        return await RTMPPublishing.admit(
            camera, token, publishing: FakeLiveView(), publishers: publishers, names: names)
    }

    @Test func `a camera is named by its key or its identifier`() async {
        let admitted = AdmittedPublisher(deviceID: "phone", principal: "encoder")
        for camera in ["pocket", "phone"] {
            let outcome = await admit(camera, "right")
            #expect(outcome == .success(admitted))
        }
    }

    @Test func `somebody whose token does not permit it does not learn which cameras there are`() async {
        for camera in ["pocket", "door", "attic", ""] {
            let (without, wrong) = (await admit(camera, nil), await admit(camera, "other"))
            #expect(without == .failure(.noToken) && wrong == .failure(.wrongToken))
        }
        let weak = await admit("pocket", "weak")
        #expect(weak == .failure(.forbidden(.mayNotPublish)))
    }

    @Test func `a camera that is pulled is refused by the name in the address`() async {
        let outcome = await admit("door", "right")
        #expect(outcome == .failure(.takesNoPublisher(camera: "door")))
        let words = PublisherRefusal.takesNoPublisher(camera: "door").words
        #expect(words.contains("door does not accept a publisher") && words.contains("source: publisher"))
    }

    @Test func `nobody may publish before the tokens are read`() async {
        let outcome = await admit("pocket", "right", knows: false)
        #expect(outcome == .failure(.wrongToken))
    }
}
