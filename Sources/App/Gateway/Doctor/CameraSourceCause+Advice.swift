import HomeTypes

extension CameraSourceCause {
    /// What to do about a camera that delivers nothing for this reason.
    var advice: String {
        switch self {
        case .unknownName:
            "Check the name in the camera's address, and this machine's name server, or write the camera's IP address."
        case .refused:
            "Check the port in the camera's address, and that this service (RTSP, ONVIF or HTTP) is switched on in the camera."
        case .noRoute:
            "Check that the camera is switched on, that its IP address is still the same, and that this machine is in its "
                + "network."
        case .timedOut:
            "Check that the camera is switched on, that its IP address is still the same, and that no firewall lies between "
                + "it and this machine."
        case .silent:
            "Restart the camera. If that does not help, check the camera's network, and that the port in its address "
                + "belongs to the service that the address names."
        case .insecure:
            "Check that the camera speaks TLS at this port. If it does not, write rtsp:// instead of rtsps:// (http:// "
                + "instead of https://)."
        case .credentials:
            "Correct the user name and the password in the camera's settings. Some cameras have users of their own for "
                + "ONVIF and RTSP, and many lock a user for a while after wrong passwords."
        case .passwordWithheld:
            "Another password may not help, because this one was not sent as the camera asks for it. Turn on Digest in the "
                + "camera, or do what the reason says."
        case .refusedElsewhere:
            "The camera's user name and password are not at fault: they are not sent to the place that the reason names. Check "
                + "that it serves this machine, and that its links have not expired. If the stream is there, write that "
                + "address, or the address of the playlist there, into the camera's settings."
        case .wrongAddress:
            "Correct the camera's address. gatehouse camera probe tries one and changes nothing."
        case .busy: "Close other programs that pull this camera, since many cameras serve only a few, or restart it."
        case .unplayable:
            "Let the camera send H.264, and AAC or G.711. gatehouse camera probe says what the camera offers."
        case .noMedia:
            "Restart the camera. If a firewall may block UDP, set transport to tcp for this camera."
        case .ended:
            "Check the camera and its network. Many cameras serve only a few programs at a time: close others that pull "
                + "this one."
        case .gateway:
            "The camera is not at fault. Look at the gateway's log, and at this machine's limits of memory, files and "
                + "processes."
        case .noPublisher: "Start the program that publishes it."
        case .switchedOff: "Switch the camera on."
        case .privacy: "Turn off the camera's privacy mode."
        case .other: Self.general
        }
    }

    /// What to do where nothing is known of the cause.
    static let general = "gatehouse camera probe shows at which step a camera fails."
}
