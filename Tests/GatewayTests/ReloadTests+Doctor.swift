import Foundation
import HomeHub
import Testing

@testable import Gateway

/// What the doctor finds about the config.
extension ReloadTests {
    private func findings(_ keeper: ConfigurationKeeper) async -> [DoctorFinding] {
        let report = await Doctor(configuration: GatewayConfiguration(), hub: hub, keeper: keeper).report()
        return report.findings.filter { $0.subject == .configuration }
    }

    @Test func `the doctor reports an edit with problems until it is corrected`() async throws {
        try write("cameras: []\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        #expect(await findings(keeper).isEmpty)

        try write("htp: {port: 9001}\nmedia: {prt: 1}\n")
        await keeper.reload(because: "a test")
        let found = await findings(keeper)
        #expect(found.map(\.state) == [.failure])
        #expect(
            found.first?.message == "The config has 2 problems, so the gateway keeps the settings that it read before: "
                + "\(file): line 1: htp: unknown key; did you mean http?")
        #expect(found.first?.advice?.contains("gatehouse serve --config \(file) --check") == true)

        try write("cameras: []\n")
        await keeper.reload(because: "a test")
        #expect(await findings(keeper).isEmpty)
    }

    @Test func `the doctor names the changes that wait for the next start`() async throws {
        try write("cameras: []\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        try write("log: {level: debug}\nrtsp: {port: 9002}\n")
        await keeper.reload(because: "a test")
        let found = await findings(keeper)
        #expect(found.map(\.state) == [.note])
        #expect(found.first?.message == "Changes to the config wait for the next start: log, rtsp.")
    }

    @Test func `rules for the recordings of a camera that does not exist are reported until it does`() async throws {
        try write(
            "cameras:\n  - {id: yard, source: whip}\n"
                + "recording: {cameras: [{id: yard, days: 1}, {id: yrad, days: 1}]}\n")
        let keeper = try self.keeper(file: file)
        await keeper.begin()
        #expect(await findings(keeper).map(\.state) == [.warning])
        #expect(await findings(keeper).first?.message.contains("yrad") == true)
        #expect(
            await keeper.configurationStatus.notes == [
                "recording.cameras has rules for yrad, but no camera has this id"
            ])
        _ = try await keeper.put(CameraEntry(values: ["source": .text("whip")]), id: "yrad")
        #expect(await findings(keeper).isEmpty)
        #expect(await keeper.configurationStatus.notes.isEmpty)
    }
}
