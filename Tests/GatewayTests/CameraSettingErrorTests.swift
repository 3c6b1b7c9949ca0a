import Cameras
import HTTPMedia
import HomeTypes
import ONVIF
import RTSP
import Testing

@testable import Gateway

/// What an app gets when a camera does not change a setting.
@Suite struct CameraSettingErrorTests {
    private static func fault(_ codes: String...) -> ONVIFError { .fault(SOAPFault(codes: codes, reason: "no")) }

    @Test(arguments: [
        (fault("Sender", "InvalidArgVal", "SettingsInvalid"), HomeError.Code.invalidArgument),
        (fault("Sender", "InvalidArgs"), .invalidArgument),
        (fault("Receiver", "ActionNotSupported", "NoImagingForSource"), .unimplemented),
        (fault("Receiver", "Action", "ConfigurationConflict"), .failedPrecondition),
        (fault("Sender", "NotAuthorized"), .failedPrecondition),
        (.unauthorized(.credentialsMissing), .failedPrecondition), (.status(403), .failedPrecondition),
        (.noAnswer(seconds: 15), .deadlineExceeded), (.unreachable("no route"), .unavailable), (.stopped, .unavailable),
        (.unsupported(.rotation), .unimplemented), (.status(500), .unknown), (.malformedXML("a"), .unknown),
    ])
    func `each failure has its code`(error: ONVIFError, code: HomeError.Code) {
        #expect(HomeError(changing: error).code == code)
        #expect(HomeError(changing: error).message.contains("camera"))
    }

    @Test func `what the camera does not offer is refused before it is asked`() async throws {
        let image = ONVIFSettingsControl(device: HTTPAddress(onvif: "192.0.2.1"), credentials: nil)
        let error = await #expect(throws: HomeError.self) {
            _ = try await image.write(.init(nightVision: .on))
        }
        #expect(error?.code == .invalidArgument && error?.subtype == .matter(.init(code: 0x87)))
    }

    @Test func `only what the camera has becomes an attribute`() throws {
        let attributes = Google.CameraAvStreamManagementTrait.Attributes(
            ONVIFSettingsState(
                settings: ONVIFSettings(nightVision: .auto, rotation: 90), nightVisionModes: [.auto, .off],
                rotations: [180, 0, 90]))
        #expect(attributes.nightVision == .auto && attributes.imageRotation == 90)
        #expect(attributes.supportedNightVisionModes == [.off, .auto])
        #expect(attributes.supportedImageRotations == [0, 90, 180])
        #expect(attributes.hdrModeEnabled == nil && attributes.imageFlipVertical == nil)
        let other = Google.CameraAvStreamManagementTrait.Attributes(
            ONVIFSettingsState(settings: ONVIFSettings(isHDREnabled: true)))
        #expect(other.supportedNightVisionModes == nil && other.supportedImageRotations == nil)
    }
}
