import Foundation
import HomeTypes
import Testing

@testable import HomeHub

@Suite struct DeviceIdentityTests {
    let store = MemorySharedStore()

    func directory() throws -> HomeDirectory { try HomeDirectory(store, timeZone: "Europe/Berlin") }

    @Test func aNewDeviceGetsAnIdentifierThatSurvivesARestart() throws {
        let id = try #require(try directory().identify([.init("door")])["door"]?.id)
        #expect(MintedID.isDevice(id))
        #expect(try directory().identify([.init("door"), .init("yard")])["door"]?.id == id)
    }

    @Test func aDeviceThatAnEarlierVersionKnewKeepsItsKeyAsItsIdentifier() throws {
        let records = try directory().identify([.init("door"), .init("yard")]) { $0 == "door" }
        #expect(records["door"]?.id == "door")
        #expect(MintedID.isDevice(records["yard"]?.id ?? ""))
    }

    @Test func aCameraWithAnotherKeyKeepsItsDeviceIfItSaysWhichOneItWas() throws {
        let id = try #require(try directory().identify([.init("door")])["door"]?.id)
        let renamed = try directory().identify([.init("porch", formerly: "door")])
        #expect(renamed["porch"]?.id == id)
        // The word may stay in the config, and a later camera may take the old key.
        let later = try directory().identify([.init("porch", formerly: "door"), .init("door")])
        #expect(later["porch"]?.id == id)
        #expect(later["door"]?.id != id)
    }

    @Test func aCameraThatWasRenamedDuringTheUpgradeKeepsWhatTheEarlierVersionKept() throws {
        let records = try directory().identify([.init("porch", formerly: "door")]) { $0 == "door" }
        #expect(records["porch"]?.id == "door")
    }

    @Test func aFormerKeyThatIsStillInUseIsNotTakenAway() throws {
        let id = try #require(try directory().identify([.init("door")])["door"]?.id)
        let records = try directory().identify([.init("porch", formerly: "door"), .init("door")])
        #expect(records["door"]?.id == id)
        #expect(records["porch"]?.id != id)
    }

    @Test func aDeviceThatWasDecommissionedNeverReturns() throws {
        let directory = try directory()
        let id = try #require(try directory.identify([.init("door")]) { _ in true }["door"]?.id)
        #expect(id == "door")
        try directory.removeDevice(id)
        #expect(directory.record(ofDevice: id) == nil && directory.names.key(of: id) == nil)
        let next = try #require(try self.directory().identify([.init("door")]) { _ in true }["door"]?.id)
        #expect(next != id && MintedID.isDevice(next))
        #expect(throws: HomeError.self) { try directory.removeDevice("nobody") }
    }

    @Test func identifiersAreNeverEqual() throws {
        let ids = (0..<1_000).map { _ in MintedID.device() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { MintedID.isDevice($0) && $0.utf8.count == MintedID.length })
        for text in ["", "door", "D" + ids[0].dropFirst(), String(ids[0].dropLast()), ids[0] + "0"] {
            #expect(!MintedID.isDevice(text))
        }
    }

    @Test func aRecordThatCannotBeReadIsLeftAlone() throws {
        _ = store.write(HomeDirectory.Kind.device, "dx", #"{"id":7}"#, expecting: 0)
        #expect(try directory().deviceRecords.isEmpty)
        #expect(store.object(HomeDirectory.Kind.device, "dx")?.body == #"{"id":7}"#)
    }

    // MARK: Names

    @Test func aDeviceIsFoundByItsIdentifierAndByItsKey() {
        let names = DeviceNames()
        names.set(["d1": "door", "door": "porch"])
        #expect(names.id(of: "porch") == "door")
        // An identifier counts more than a key: programs send identifiers.
        #expect(names.id(of: "door") == "door" && names.id(ofKey: "door") == "d1")
        #expect(names.id(of: "shed") == "shed" && names.label(of: "shed") == "shed" && names.label(of: "d1") == "door")
    }

    @Test func textsForPeopleNameDevicesByTheirKeys() {
        let (id, other) = (MintedID.device(), MintedID.device())
        let names = DeviceNames()
        names.set([id: "door"])
        #expect(names.readable("device \(id) is not a doorbell") == "device door is not a doorbell")
        #expect(
            names.readable("\(id): gone, \"\(id)\" and \(id)'s (\(id)).") == "door: gone, \"door\" and door's (door).")
        #expect(names.readable("\(id)") == "door")
        for text in [
            "", "short", "/recordings/\(id)/2026", "\(id)-main.mp4", "x\(id)", "\(id)0", other,
            "an \(other) unknown one",
            "Tür \(id)é",
        ] {
            #expect(names.readable(text) == text)
        }
    }
}
