import ArgumentParser

@main
struct Gatehouse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse", abstract: "A WebRTC gateway for cameras and doorbells.")
}
