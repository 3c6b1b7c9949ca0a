import Cameras
import Foundation
import Logging
import RTSP
import Stations
import Testing

@testable import Gateway

@Suite struct ProfileStoreTests {
    let folder: TemporaryFolder
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { folder = try TemporaryFolder() }

    func profile() -> CameraProfile {
        var profile = CameraProfile()
        profile.transport = .udp
        profile.keepAlive = .options
        profile.quirks = [.garbageBetweenPackets]
        return profile
    }

    @Test func profilesSurviveARestartOnlyAtTheSameAddress() throws {
        let first = ProfileStore(directory: folder.directory, logger: logger)
        #expect(first.profile(of: "yard", at: "rtsp://192.0.2.1/") == CameraProfile())
        first.record(profile(), of: "yard", at: "rtsp://192.0.2.1/")
        first.record(profile(), of: "attic", at: "rtsp://192.0.2.2/")
        first.record(profile(), of: ProfileStore.substreamKey(of: "yard"), at: "rtsp://192.0.2.1/2")
        first.keepOnly(["yard"])
        first.flush()
        let permissions = try FileManager.default.attributesOfItem(
            atPath: folder.directory.file(ProfileFile.name))[.posixPermissions]
        #expect(permissions as? Int == 0o600)

        let second = ProfileStore(directory: folder.directory, logger: logger)
        #expect(second.profile(of: "yard", at: "rtsp://192.0.2.1/") == profile())
        #expect(second.profile(of: "yard", at: "rtsp://192.0.2.66/") == CameraProfile())
        #expect(second.profile(of: "attic", at: "rtsp://192.0.2.2/") == CameraProfile())
        #expect(second.profile(of: "yard/substream", at: "rtsp://192.0.2.1/2") == profile())
    }

    /// An ONVIF camera announces its own address. Whichever that is, it is not sent the password in clear text.
    @Test func supportForDigestIsRememberedUntilTheOwnerResetsIt() throws {
        let store = ProfileStore(directory: folder.directory, logger: logger)
        var profile = self.profile()
        profile.takesDigest = true
        profile.authentication = "Digest MD5"
        let substream = ProfileStore.substreamKey(of: "yard")
        store.record(profile, of: "yard", at: "rtsp://192.0.2.1/")
        store.record(profile, of: substream, at: "rtsp://192.0.2.1/2")
        #expect(store.profile(ofMoving: "yard", at: "rtsp://192.0.2.1/") == profile)
        let moved = store.profile(ofMoving: "yard", at: "rtsp://192.0.2.1:1554/other")
        #expect(moved.takesDigest && moved.keepAlive == nil)
        #expect(!store.profile(of: "yard", at: "rtsp://192.0.2.1:1554/other").takesDigest)
        store.forgetDigest(of: "yard")
        #expect(!store.profile(ofMoving: "yard", at: "rtsp://192.0.2.1/").takesDigest)
        #expect(store.profile(of: "yard", at: "rtsp://192.0.2.1/").keepAlive == .options)
        #expect(!store.profile(of: substream, at: "rtsp://192.0.2.1/2").takesDigest)
    }

    @Test func aDamagedFileDoesNotPreventTheStart() throws {
        for text in [
            "", "nonsense", "[]", #"{"yard":{"address":1}}"#,
            #"{"yard":{"address":"a","fields":{"transport":"pigeon"}}}"#,
        ] {
            try folder.directory.writePrivate(ProfileFile.name, text)
            let store = ProfileStore(directory: folder.directory, logger: logger)
            #expect(store.profile(of: "yard", at: "a") == CameraProfile())
        }
    }
}
