import Foundation
import Testing

@testable import Gateway

/// Wherever a camera's address is refused, one list says what would work.
@Suite struct CameraAddressWordsTests {
    private let words = GatewayConfiguration.Camera.urlWords

    @Test func `the list names every kind of address that works, each once`() {
        for scheme in GatewayConfiguration.Camera.schemes {
            let parts = scheme.split(separator: "+")
            // What comes is in front of the plus sign.
            let named = parts.count > 1 ? "\(parts[0])+" : "\(scheme)://"
            #expect(words.contains(named))
        }
        #expect(words.components(separatedBy: "hls+").count == 2)
    }

    private func refusal(inConfig source: String) -> String {
        do {
            _ = try GatewayConfiguration(yaml: "cameras: [{id: yard, source: '\(source)'}]")
            return ""
        } catch {
            return error.problems.first?.reason ?? ""
        }
    }

    private func refusal(inSetup address: String) -> String {
        do {
            _ = try SetupCameraAddress(address)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `the config and the setup name every kind of address that works`() {
        #expect(refusal(inConfig: "exec:ls").hasSuffix(words))
        #expect(refusal(inSetup: "ftp://192.0.2.7/live").hasSuffix(words))
    }

    @Test func `the OpenAPI document names every kind of address that works`() {
        // For the trial of a camera, and for its settings.
        #expect(OpenAPIDocument.yaml.components(separatedBy: words).count == 3)
    }
}
