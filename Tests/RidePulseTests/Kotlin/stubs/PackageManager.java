package android.content.pm;

import android.content.Intent;

public class PackageManager {
  public PackageInfo getPackageInfo(String name, int flags) { return new PackageInfo(); }

  public Intent getLaunchIntentForPackage(String name) { return new Intent(); }
}
