// The module that app code imports for the traits and device types. It also brings what comes with GoogleHomeSDK.

@_exported import GoogleHomeSDK
