import ArgumentParser
import Gateway

@main
struct Gatehouse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse", abstract: "A WebRTC gateway for cameras and doorbells.",
        version: GatewayVersion.current,
        subcommands: [
            SetupCommand.self, ServeCommand.self, CameraCommand.self, HomeCommand.self, DevicesCommand.self,
            DeviceCommand.self,
            RoomsCommand.self, StructuresCommand.self, HistoryCommand.self, AutomationCommand.self, LiveCommand.self,
            TalkCommand.self, PressCommand.self, SessionsCommand.self, EventsCommand.self, RecordingsCommand.self,
            TokenCommand.self, ShareCommand.self,
            MQTTCommand.self, ImportCommand.self, DoctorCommand.self, BenchCommand.self, SDPCommand.self,
        ])
}
