import HomeTypes
import Testing

@testable import Gateway

/// What cannot be removed for good, because the config declares it.
extension ReloadTests {
    @Test func `a camera and a virtual device of the config are removed there first`() async throws {
        try write("cameras: [{id: yard, source: whip}]\ndevices: {lamp: {name: Lamp, type: OnOffLight}}\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        for (key, kind) in [("yard", "camera"), ("lamp", "device")] {
            let error = await #expect(throws: HomeError.self) { try await keeper.requireOutsideConfigFile(key) }
            #expect(
                error?.message == "the \(kind) \(key) is defined in the config file \(file); remove it there first, "
                    + "which needs no restart")
        }
        try await keeper.requireOutsideConfigFile("gate")
    }
}
