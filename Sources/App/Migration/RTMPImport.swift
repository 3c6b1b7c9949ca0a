/// Reads the port at which the other gateway takes RTMP.
///
/// Programs publish by RTMP and play nothing. So the port is only of use where a camera waits for a publisher.
enum RTMPImport {
    /// Where MediaMTX takes RTMP unless its config says otherwise.
    private static let standardPort = 1935
    private static let remark =
        "RTMP is taken from programs of this machine only, with a token in the address (?token=); host: 0.0.0.0 takes "
        + "it from the network. Nobody can play by RTMP"

    /// Takes over the port of an address, as `:1935`.
    static func take(_ address: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard hasPublisher(builder) else { return remarkOnNoPublisher(at: address, into: &builder) }
        let port = address.text?.split(separator: ":").last.flatMap { Int($0) }
        guard let port, (1...65_535).contains(port) else {
            builder.remark("the port of RTMP cannot be read, so RTMP is off; write it under rtmp", at: address)
            return
        }
        builder.change { $0.rtmpPort = port }
        builder.remark(remark, at: address)
    }

    /// Takes over the port that the other gateway has by default.
    /// - Parameter place: What switches RTMP on there; nil where nothing does.
    static func takeStandard(switchedOnAt place: ForeignNode?, into builder: inout ConfigurationBuilder) {
        guard hasPublisher(builder) else {
            if let place { remarkOnNoPublisher(at: place, into: &builder) }
            return
        }
        builder.change { $0.rtmpPort = standardPort }
        builder.remark(
            "the other gateway takes publishers at port \(standardPort) by default, so this one does too. \(remark). "
                + "While both run on one machine, give one of them another port",
            about: "rtmp")
    }

    private static func hasPublisher(_ builder: ConfigurationBuilder) -> Bool {
        builder.result.cameras.contains { $0.source == "publisher" }
    }

    private static func remarkOnNoPublisher(at place: ForeignNode, into builder: inout ConfigurationBuilder) {
        builder.remark("nobody can play by RTMP, and no camera waits for a publisher, so RTMP is off", at: place)
    }
}
