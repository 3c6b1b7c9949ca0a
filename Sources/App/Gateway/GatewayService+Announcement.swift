import Logging

/// Where the gateway can be reached.
extension GatewayService {
    /// How commands on this machine reach the gateway.
    func localGateway(_ listening: GatewayConfiguration) -> LocalGateway {
        LocalGateway(
            url: LocalGateway.url(of: listening), httpsPort: listening.http.https?.port,
            stateDirectory: stateDirectory.path, processID: LocalGateway.ownProcessID,
            addresses: PageAddresses(listening))
    }

    /// The file goes to the standard folder too, where commands look first.
    var announcementDirectories: [StateDirectory] {
        let standard = StateDirectory.standard()
        return standard == stateDirectory ? [standard] : [stateDirectory, standard]
    }

    /// Says that the gateway is ready, and where: to commands on this machine, to the log and to the service manager.
    func announce(_ listening: GatewayConfiguration) async {
        let cameras = await keeper.entries.count
        for directory in announcementDirectories {
            let own = localGateway(listening)
            guard directory == stateDirectory || !own.isTaken(in: directory) else {
                logger.notice(
                    """
                    another gateway of this user runs, and commands without --config go to that one; name this one's \
                    config with --config
                    """)
                continue
            }
            do {
                try own.write(to: [directory])
            } catch {
                logger.warning(
                    "commands on this machine may not find the gateway", metadata: ["reason": "\(error)"])
            }
        }
        let http = listening.http
        logger.notice(
            "gateway is ready",
            metadata: [
                "http": "\(http.host):\(http.port)",
                "https": "\(http.https.map { "\($0.host ?? http.host):\($0.port)" } ?? "off")",
                "cameras": "\(cameras)",
            ])
        reportReady(listening, cameras: cameras)
        await onReady(listening)
    }
}
