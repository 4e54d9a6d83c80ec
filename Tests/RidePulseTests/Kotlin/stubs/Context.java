package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import java.io.File;

public class Context {
  private final File files;

  public Context() { this(new File(System.getProperty("files", "files"))); }

  public Context(File files) { this.files = files; }

  public Context getApplicationContext() { return this; }

  public File getNoBackupFilesDir() {
    files.mkdirs();
    return files;
  }

  public String getPackageName() { return "com.example.rides"; }

  public PackageManager getPackageManager() { return new PackageManager(); }

  public ApplicationInfo getApplicationInfo() { return new ApplicationInfo(); }

  public Resources getResources() { return new Resources(); }

  public String getString(int id, Object... arguments) {
    return String.format(Resources.form(id), arguments);
  }
}
