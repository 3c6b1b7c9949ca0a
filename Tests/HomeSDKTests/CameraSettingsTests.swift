import Foundation
import GatewayClient
import GatewayProcess
import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

/// The settings that an ONVIF camera keeps, as an app reads and writes them: with a real gateway, and a simulated camera
/// behind it.
@Suite(.timeLimit(.minutes(10))) struct CameraSettingsTests {
    private typealias Settings = Google.CameraAvStreamManagementTrait

    /// A gateway with one camera, and the home that it serves.
    private struct World {
        let camera: SimulatedONVIFCamera
        let gateway: GatewayProcess
        let home: Home

        init(_ camera: SimulatedONVIFCamera) throws {
            self.camera = camera
            gateway = try GatewayProcess(sections: #""cameras": [\#(camera.configuration)]"#)
            home = Home(GatewayConnection(url: gateway.address, token: gateway.token), HomeClientConfiguration())
        }

        func stop() {
            gateway.stop()
            camera.stop()
        }

        /// The settings, as soon as the home reports what is expected.
        func settings(where isExpected: (Settings) -> Bool) async throws -> Settings {
            let door = try #require(try await home.devices().list().first { $0.name == "Door" })
            for try await settings in door.traits.subscribe(Settings.self).values where isExpected(settings) {
                return settings
            }
            throw HomeError.unknown("the stream of the settings ended")
        }

        /// The settings once the camera and the gateway have told all of them.
        func complete() async throws -> Settings {
            try await settings {
                $0.attributes.$nightVision.isSupported && $0.attributes.$microphoneMuted.isSupported
            }
        }
    }

    /// The error with which the gateway refuses a change.
    private func refusal(_ settings: Settings, _ change: (inout Settings.Update) -> Void) async throws -> HomeError {
        do {
            _ = try await settings.update(change)
        } catch {
            return try #require(error as? HomeError)
        }
        throw HomeError.unknown("nothing was refused")
    }

    @Test func `an app reads what the camera offers, and writes it`() async throws {
        let world = try World(SimulatedONVIFCamera("--imaging", "--degrees", "90,180,270", "--speaker"))
        defer { world.stop() }
        let settings = try await world.complete()
        #expect(settings.nightVision == .auto && settings.attributes.supportedNightVisionModes == [.off, .on, .auto])
        #expect(settings.hdrModeEnabled == false && settings.microphoneMuted == false)
        #expect(settings.imageRotation == 0 && settings.attributes.supportedImageRotations == [0, 90, 180, 270])
        #expect(settings.speakerVolumeLevel == 40 && settings.speakerMinLevel == 1 && settings.speakerMaxLevel == 100)
        // ONVIF has none of these.
        #expect(!settings.attributes.$statusLightEnabled.isSupported && settings.statusLightEnabled == nil)
        #expect(!settings.attributes.$imageFlipVertical.isSupported)

        let changed = try await settings.update {
            $0.setNightVision(.on)
            $0.setHdrModeEnabled(true)
            $0.setImageRotation(90)
            $0.setSpeakerVolumeLevel(70)
            $0.setMicrophoneMuted(true)
        }
        #expect(changed.nightVision == .on && changed.hdrModeEnabled == true && changed.imageRotation == 90)
        #expect(changed.speakerVolumeLevel == 70 && changed.microphoneMuted == true)
        // The filter keeps infrared light out.
        #expect(
            try await world.camera.image()
                == .init(filter: "OFF", wide: "ON", rotate: "ON", degree: 90, level: 70))
        // Other apps see it, too.
        let seen = try await world.settings { $0.nightVision == .on && $0.microphoneMuted == true }
        #expect(seen.imageRotation == 90 && seen.speakerVolumeLevel == 70)
    }

    @Test func `a value that the camera does not offer is refused before the camera is asked`() async throws {
        let world = try World(SimulatedONVIFCamera("--imaging", "--filters", "ON,AUTO"))
        defer { world.stop() }
        let settings = try await world.complete()
        #expect(settings.attributes.supportedNightVisionModes == [.off, .auto])
        #expect(!settings.attributes.$imageRotation.isSupported && !settings.attributes.$speakerVolumeLevel.isSupported)
        let value = try await refusal(settings) { $0.setNightVision(.on) }
        #expect(value.code == .invalidArgument && value.subtype == .matter(.init(code: 0x87)))
        #expect(value.message.contains("nightVision: off, auto"), "\(value)")
        let lacking: [(inout Settings.Update) -> Void] = [
            { $0.setImageRotation(180) }, { $0.setSpeakerVolumeLevel(3) }, { $0.setStatusLightEnabled(true) },
        ]
        for change in lacking {
            let missing = try await refusal(settings, change)
            #expect(missing.code == .invalidArgument && missing.subtype == .matter(.init(code: 0x86)), "\(missing)")
        }
        #expect(try await world.camera.requests().isEmpty)
        #expect(try await world.complete().nightVision == .auto)
    }

    @Test func `what the camera itself refuses has the code of the reason, and changes nothing`() async throws {
        let world = try World(SimulatedONVIFCamera("--imaging"))
        defer { world.stop() }
        let settings = try await world.complete()
        for (subcode, code) in [
            ("ter:InvalidArgVal/ter:SettingsInvalid", HomeError.Code.invalidArgument),
            ("ter:ActionNotSupported", .unimplemented), ("ter:NotAuthorized", .failedPrecondition),
        ] {
            try await world.camera.refuse(with: subcode)
            let error = try await refusal(settings) {
                $0.setNightVision(.off)
                $0.setMicrophoneMuted(true)
            }
            #expect(error.code == code && error.message.contains("camera"), "\(subcode): \(error)")
            let now = try await world.complete()
            #expect(now.nightVision == .auto && now.microphoneMuted == false)
        }
        try await world.camera.refuse(with: nil)
        #expect(try await settings.update { $0.setNightVision(.off) }.nightVision == .off)
        world.camera.stop()
        #expect(try await refusal(settings) { $0.setNightVision(.auto) }.code == .unavailable)
    }
}
